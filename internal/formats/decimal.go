package formats

import (
	"fmt"
	"math/bits"
)

// decimalBytes is what a decimal of 38 digits takes: a number of 128 bits,
// highest byte first, as the file format wants it.
const decimalBytes = 16

// digits38 is how many digits always fit into them.
const digits38 = 38

// ErrTooLarge is that a number has more digits than a table's format has room for.
var ErrTooLarge = fmt.Errorf("has more than %d digits", digits38)

// parseUnscaled reads a decimal as the whole number of its units of 10^-scale.
func parseUnscaled(text []byte, scale int) (number [decimalBytes]byte, err error) {
	negative := len(text) > 0 && text[0] == '-'
	rest, point := text, -1
	if negative {
		rest = rest[1:]
	}
	var hi, lo uint64
	digits := 0
	add := func(digit uint64) {
		carry, low := bits.Mul64(lo, 10)
		lo, hi = low+digit, hi*10+carry
		if lo < digit {
			hi++
		}
		if digits > 0 || digit > 0 {
			digits++
		}
	}
	for i, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			add(uint64(c - '0'))
		case c == '.' && point < 0:
			point = i
		default:
			return number, fmt.Errorf("%q is no decimal", text)
		}
	}
	fraction := 0
	if point >= 0 {
		fraction = len(rest) - point - 1
	}
	for range scale - fraction {
		add(0)
	}
	if digits > digits38 {
		return number, fmt.Errorf("%s %w", text, ErrTooLarge)
	}
	if fraction > scale || len(rest) == 0 {
		return number, fmt.Errorf("%q is no decimal with %d digits after the point", text, scale)
	}
	return int128Bytes(hi, lo, negative), nil
}

// int128Bytes are the bytes of a number of 128 bits in two's complement.
func int128Bytes(hi, lo uint64, negative bool) (number [decimalBytes]byte) {
	if negative {
		hi, lo = ^hi, ^lo+1
		if lo == 0 {
			hi++
		}
	}
	for i := range 8 {
		number[i] = byte(hi >> (56 - 8*i))
		number[8+i] = byte(lo >> (56 - 8*i))
	}
	return number
}
