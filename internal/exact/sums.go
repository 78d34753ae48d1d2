package exact

import (
	"math/big"
	"math/bits"
	"slices"
)

// Sum accumulates numbers of 128 bits in 192 bits, which fewer than 2^64 of them
// cannot overflow. The zero value is 0.
type Sum struct {
	over  uint64 // above total
	total Uint128
}

// SumOf converts a big.Int; ok is false if it is negative or exceeds 192 bits.
func SumOf(n *big.Int) (s Sum, ok bool) {
	low, high := new(big.Int), new(big.Int).Rsh(n, 128)
	low.Sub(n, low.Lsh(high, 128))
	s.total, ok = Uint128Of(low)
	s.over = high.Uint64()
	return s, ok && n.Sign() >= 0 && high.IsUint64()
}

// Whole returns the sum of one number of 64 bits.
func Whole(n uint64) Sum { return Sum{total: Uint128{Lo: n}} }

// Add adds a number.
func (s *Sum) Add(n Uint128) { s.AddSum(Sum{total: n}) }

// AddSum adds another sum.
func (s *Sum) AddSum(t Sum) {
	var carry uint64
	s.total.Lo, carry = bits.Add64(s.total.Lo, t.total.Lo, 0)
	s.total.Hi, carry = bits.Add64(s.total.Hi, t.total.Hi, carry)
	s.over += t.over + carry
}

// Big returns the sum as a big.Int.
func (s Sum) Big() *big.Int {
	if s.over == 0 {
		return s.total.Big()
	}
	n := new(big.Int).SetUint64(s.over)
	return n.Lsh(n, 128).Or(n, s.total.Big())
}

// String writes the sum in decimal digits.
func (s Sum) String() string { return s.Big().String() }

// Sums are the sums of several measures by their places in a list. Sums beyond
// the end are 0, so nil is the sums of nothing.
type Sums []Sum

// At returns the sum at a place.
func (s Sums) At(place int) Sum {
	if place < len(s) {
		return s[place]
	}
	return Sum{}
}

// Add adds a number to each sum, by place.
func (s *Sums) Add(numbers []Uint128) {
	s.grow(len(numbers))
	for place, n := range numbers {
		(*s)[place].Add(n)
	}
}

// AddSums adds other sums, by place.
func (s *Sums) AddSums(t Sums) {
	s.grow(len(t))
	for place := range t {
		(*s)[place].AddSum(t[place])
	}
}

func (s *Sums) grow(places int) {
	if missing := places - len(*s); missing > 0 {
		*s = append(*s, make(Sums, missing)...)
	}
}

// IsZero reports whether all sums are 0.
func (s Sums) IsZero() bool {
	return !slices.ContainsFunc(s, func(one Sum) bool { return one != Sum{} })
}

// Equal reports whether the sums at all places are equal.
func (s Sums) Equal(t Sums) bool {
	for place := range max(len(s), len(t)) {
		if s.At(place) != t.At(place) {
			return false
		}
	}
	return true
}
