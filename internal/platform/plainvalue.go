package platform

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"adlens"
)

// The functions of this file read values of JSON at a place of a text that ends
// in a byte of zero. Each returns where the value ends; where it is not ok, it
// returns a place at which that showed.

func pastSpace(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t' {
		at++
	}
	return at
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func pastDigits(text []byte, at int) int {
	for isDigit(text[at]) {
		at++
	}
	return at
}

// endsValue reports whether a number may end before this byte.
func endsValue(c byte) bool {
	return c == ',' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

// passNumber finds the end of a number.
func passNumber(text []byte, at int) (end int, ok bool) {
	if text[at] == '-' {
		at++
	}
	if end = pastDigits(text, at); end == at || text[at] == '0' && end > at+1 {
		return end, false
	}
	if text[end] == '.' {
		fraction := end + 1
		if end = pastDigits(text, fraction); end == fraction {
			return end, false
		}
	}
	if text[end]|0x20 == 'e' {
		if end++; text[end] == '+' || text[end] == '-' {
			end++
		}
		exponent := end
		if end = pastDigits(text, exponent); end == exponent {
			return end, false
		}
	}
	return end, endsValue(text[end])
}

// parseCount reads a whole number as adlens.ParseCount does.
func parseCount(text []byte, at int) (n uint64, end int, ok bool) {
	const surelyFit = 18
	for end = at; isDigit(text[end]) && end-at < surelyFit; end++ {
		n = n*10 + uint64(text[end]-'0')
	}
	if end > at && endsValue(text[end]) && (text[at] != '0' || end == at+1) {
		return n, end, true
	}
	if end, ok = passNumber(text, at); !ok {
		return 0, end, false
	}
	n, err := adlens.ParseCount(text[at:end])
	return n, end, err == nil
}

func parseAmount(text []byte, at int) (a adlens.Amount, end int, ok bool) {
	if end, ok = passNumber(text, at); !ok {
		return a, end, false
	}
	a, err := adlens.ParseAmount(text[at:end])
	return a, end, err == nil
}

func passLiteral(text []byte, at int, literal string) (end int, ok bool) {
	end = at + len(literal)
	if len(text) < end || string(text[at:end]) != literal {
		return at, false
	}
	return end, true
}

// passValue passes over a value of which nothing is taken. Lists and objects
// are not plain.
func passValue(text []byte, at int) (end int, ok bool) {
	switch c := text[at]; {
	case c == '"':
		end, _, ok = textEnd(text, at+1)
		return end + 1, ok
	case c == 'n':
		return passLiteral(text, at, "null")
	case c == 't':
		return passLiteral(text, at, "true")
	case c == 'f':
		return passLiteral(text, at, "false")
	default:
		return passNumber(text, at)
	}
}

// textEnd finds the closing quote of a text whose inside begins at a place. It
// must be UTF-8, its escapes sound, and none of them half a surrogate pair.
func textEnd(text []byte, at int) (end int, escaped, ok bool) {
	for {
		at = nextSpecial(text, at)
		switch c := text[at]; {
		case c == '"':
			return at, escaped, true
		case c == '\\':
			past, sound := pastEscape(text, at)
			if !sound {
				return past, true, false
			}
			at, escaped = past, true
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				return at, escaped, false
			}
			at += size
		default:
			return at, escaped, false // a control character
		}
	}
}

// Bytes of a word, all alike.
const (
	ones  = 0x0101010101010101
	highs = ones << 7
)

// nextSpecial finds the next byte that is a quote, a backslash, a control
// character or beyond ASCII, eight bytes at a time.
func nextSpecial(text []byte, at int) int {
	for ; len(text)-at >= 8; at += 8 {
		word := binary.LittleEndian.Uint64(text[at:])
		quote, backslash := word^ones*'"', word^ones*'\\'
		// A byte's high bit is set where the byte is sought; what borrows from a
		// lower byte does so only above one that is sought itself.
		special := word | (word-ones*' ')&^word | (quote-ones)&^quote | (backslash-ones)&^backslash
		if special &= highs; special != 0 {
			return at + bits.TrailingZeros64(special)/8
		}
	}
	for c := text[at]; c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\'; c = text[at] {
		at++
	}
	return at
}

// pastEscape passes over an escape. Half a surrogate pair is left to the strict
// way, with its partner.
func pastEscape(text []byte, at int) (end int, ok bool) {
	switch text[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2, true
	case 'u':
		unit := 0
		for end = at + 2; end < at+6; end++ {
			digit, ok := hexDigit(text[end])
			if !ok {
				return end, false
			}
			unit = unit<<4 | digit
		}
		return end, unit < 0xd800 || unit > 0xdfff
	default:
		return at + 1, false
	}
}

func hexDigit(c byte) (value int, ok bool) {
	switch {
	case isDigit(c):
		return int(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10, true
	default:
		return 0, false
	}
}
