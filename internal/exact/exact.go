// Package exact does arithmetic on whole numbers that exceed 64 bits: sums of
// several measures, and ratios of sums, which are rounded once, half away from
// zero. Overflow is reported, except where a comment gives the bound that rules
// it out.
package exact

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Uint128 is a whole number from 0 to 2^128-1.
type Uint128 struct{ Hi, Lo uint64 }

// Uint128Of converts a big.Int; ok is false if it is negative or exceeds 128 bits.
func Uint128Of(n *big.Int) (u Uint128, ok bool) {
	if n.Sign() < 0 || n.BitLen() > 128 {
		return Uint128{}, false
	}
	return Uint128{new(big.Int).Rsh(n, 64).Uint64(), new(big.Int).And(n, word).Uint64()}, true
}

// word is the largest number of 64 bits.
var word = new(big.Int).SetUint64(1<<64 - 1)

// Product returns a times b, which always fits.
func Product(a, b uint64) (p Uint128) {
	p.Hi, p.Lo = bits.Mul64(a, b)
	return p
}

// Compare returns -1, 0 or 1 if a is less than, equal to or greater than b.
func (a Uint128) Compare(b Uint128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Add returns a plus b; ok is false on overflow.
func (a Uint128) Add(b Uint128) (sum Uint128, ok bool) {
	var carry uint64
	sum.Lo, carry = bits.Add64(a.Lo, b.Lo, 0)
	sum.Hi, carry = bits.Add64(a.Hi, b.Hi, carry)
	return sum, carry == 0
}

// Distance returns the absolute difference of a and b, and whether a is less.
func (a Uint128) Distance(b Uint128) (d Uint128, less bool) {
	if a.Compare(b) < 0 {
		a, b, less = b, a, true
	}
	var borrow uint64
	d.Lo, borrow = bits.Sub64(a.Lo, b.Lo, 0)
	d.Hi, _ = bits.Sub64(a.Hi, b.Hi, borrow)
	return d, less
}

// Times returns a times b; ok is false on overflow.
func (a Uint128) Times(b uint64) (p Uint128, ok bool) {
	over, hi := bits.Mul64(a.Hi, b)
	p = Product(a.Lo, b)
	var carry uint64
	p.Hi, carry = bits.Add64(p.Hi, hi, 0)
	return p, over|carry == 0
}

// QuoRem returns the quotient and the remainder of a divided by d, which is not 0.
func (a Uint128) QuoRem(d uint64) (quotient Uint128, rest uint64) {
	quotient.Hi, rest = a.Hi/d, a.Hi%d
	quotient.Lo, rest = bits.Div64(rest, a.Lo, d)
	return quotient, rest
}

// Big returns the number as a big.Int.
func (a Uint128) Big() *big.Int {
	if a.Hi == 0 {
		return new(big.Int).SetUint64(a.Lo)
	}
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.Lo))
}
