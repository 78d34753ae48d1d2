package oauth

import (
	"strings"
	"unicode"
)

// invisible are printable by Unicode's categories, but have no glyph: fillers,
// and the blank pattern of Braille.
var invisible = map[rune]bool{'\u115F': true, '\u1160': true, '\u3164': true, '\uFFA0': true, '\u2800': true, '\uFFFD': true, '\u034F': true, '\u17B4': true, '\u17B5': true}

// cleanText makes a stranger's text fit to be shown in a sentence: at most so
// many characters, in one line, without control, bidi, zero-width, tag, private
// and variation characters, and with at most two marks on a letter.
func cleanText(text string, most int) string {
	var b strings.Builder
	characters, marks, space := 0, 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = characters > 0
			continue
		case !unicode.IsGraphic(r) || invisible[r] || unicode.Is(unicode.Variation_Selector, r):
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
			return strings.TrimSpace(b.String()) + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
}
