package adlens

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// blank are characters that are printable by Unicode's categories and have no glyph:
// fillers, and the empty pattern of Braille.
var blank = map[rune]bool{'\u115F': true, '\u1160': true, '\u3164': true, '\uFFA0': true, '\u2800': true, '\uFFFD': true, '\u034F': true, '\u17B4': true, '\u17B5': true}

// IsHidden reports whether a character is not seen where it is: controls, marks of
// direction, zero-width, tag, private and variation characters.
func IsHidden(r rune) bool {
	return !unicode.IsGraphic(r) || blank[r] || unicode.Is(unicode.Variation_Selector, r)
}

// CleanText makes a stranger's text fit to be shown to a person or a model: at most so
// many characters, in one line, without hidden ones, and with at most two marks on a
// letter. A text that was cut ends in an ellipsis.
func CleanText(text string, most int) string {
	if isPlain(text) && len(text) <= most {
		return text
	}
	var b strings.Builder
	characters, marks, space := 0, 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = characters > 0
			continue
		case IsHidden(r):
			continue
		case unicode.IsMark(r):
			if marks++; marks > 2 || characters == 0 {
				continue
			}
		default:
			marks = 0
		}
		if space {
			b.WriteByte(' ')
			characters++
			space = false
		}
		if characters++; characters > most {
			return cutText(b.String(), most)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cutText returns a text of more characters than fit with an ellipsis at its end.
func cutText(text string, most int) string {
	letters := []rune(text)
	return strings.TrimSpace(string(letters[:min(len(letters), most-1)])) + "…"
}

// JoinFew lists the first of some texts, at most so many, and says how many more there
// are.
func JoinFew(all []string, most int, separator string) string {
	text := strings.Join(all[:min(most, len(all))], separator)
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf("%sand %d more", strings.TrimPrefix(separator, ","), more) // no comma before the "and"
	}
	return text
}

// FormatCount writes a number with its noun.
func FormatCount[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// isPlain reports whether a text has nothing to remove: most are of ASCII alone.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f || text[i] == ' ' && (i == 0 || text[i-1] == ' ') {
			return false
		}
	}
	return !strings.HasSuffix(text, " ")
}

// FormatTime writes an instant as every surface shows it: in UTC, with milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// FormatOptionalTime is FormatTime of an instant that there may be; nil for none.
func FormatOptionalTime(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(FormatTime(*t))
}
