package formats

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// firstSerial is the first day that all spreadsheets count alike: they know a
// 29 February 1900.
var firstSerial = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)

// serialOf is a day or an instant as days since 1899-12-30, exact to far below
// a millisecond; ok is false before 1 March 1900.
func serialOf(text []byte) (serial []byte, ok bool) {
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		t, err = time.Parse(time.RFC3339, string(text))
	}
	if err != nil || t.Before(firstSerial) {
		return nil, false
	}
	const serial1970, msPerDay = 25_569, secondsPerDay * 1000
	ms := t.UnixMilli()
	day := ms / msPerDay
	if ms < 0 && ms%msPerDay != 0 {
		day--
	}
	serial = strconv.AppendInt(nil, day+serial1970, 10)
	if rest := ms - day*msPerDay; rest > 0 {
		const decimals = 1_000_000_000_000 // of a day
		fraction := rest * (decimals / 1000) / (msPerDay / 1000)
		serial = append(serial, strconv.FormatInt(decimals+fraction, 10)...)
		serial[len(serial)-13] = '.'
	}
	return serial, true
}

// truncateText is a text that fits into a cell.
func truncateText(text []byte) []byte {
	if len(text) <= maxCellText {
		return text
	}
	units, room := 0, 0 // room is where the note would still fit
	for i, r := range string(text) {
		size := 1
		if r > 0xffff {
			size = 2
		}
		if units += size; units <= maxCellText-len(cutNote) {
			room = i + utf8.RuneLen(r)
		}
		if units > maxCellText {
			return append(text[:room:room], cutNote...)
		}
	}
	return text
}

// appendXML writes a text as the content of an element. What XML cannot hold
// is written as _xHHHH_, which spreadsheets read back, and so is a text of
// that form.
func appendXML(b, text []byte) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r < ' ' && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff, r == '_' && looksEscaped(text[i:]):
			b = appendEscape(b, r)
		case r == utf8.RuneError && size == 1:
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = append(b, text[i:i+size]...)
		}
		i += size
	}
	return b
}

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '_', 'x', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15], '_')
}

// looksEscaped reports whether a text begins like _x000D, which an underscore would
// complete: the text's own, or the first of what a control character is written as.
func looksEscaped(text []byte) bool {
	if len(text) < 6 || text[1] != 'x' {
		return false
	}
	for _, c := range text[2:6] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return false
		}
	}
	return true
}
