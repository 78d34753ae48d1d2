package assistant

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds the characters of a name or title in a result, and maxID the bytes
// of an id.
const (
	maxText = 80
	maxID   = 200
)

// cleanText removes what is not seen of a text and may change what is seen of it, or
// speak to a model alone: controls, marks of direction, zero-width characters,
// tags, variation selectors, private and unassigned characters. Names and titles of
// campaigns and products are written by strangers.
func cleanText(text string) string {
	if isPlainText(text) {
		return text
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, text)), " ")
}

// isPlainText reports whether a text has nothing to remove: most have ASCII alone.
func isPlainText(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f || text[i] == ' ' && (i == 0 || text[i-1] == ' ') {
			return false
		}
	}
	return !strings.HasSuffix(text, " ")
}

// boundText cuts a text to so many characters.
func boundText(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// isHidden reports whether a character is not seen where it is.
func isHidden(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isVisible reports whether all characters of a text are seen.
func isVisible(text string) bool {
	return !strings.ContainsFunc(text, isHidden)
}
