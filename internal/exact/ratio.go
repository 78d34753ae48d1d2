package exact

import (
	"math/big"
	"strconv"
)

// Number is a whole number of any size. The zero value is 0. One whose size fits
// into 128 bits takes no memory of its own.
type Number struct {
	size     Uint128  // without its sign
	large    *big.Int // the number, if 128 bits do not hold its size
	negative bool     // of numbers that are not large
}

// NumberOf converts a big.Int, which must not change afterwards.
func NumberOf(n *big.Int) Number {
	size, ok := Uint128Of(new(big.Int).Abs(n))
	if !ok {
		return Number{large: n}
	}
	return Number{size: size, negative: n.Sign() < 0}
}

// Big returns the number as a big.Int, which must not be changed.
func (n Number) Big() *big.Int {
	switch {
	case n.large != nil:
		return n.large
	case n.negative:
		size := n.size.Big()
		return size.Neg(size)
	}
	return n.size.Big()
}

// Negative reports whether the number is less than 0.
func (n Number) Negative() bool { return n.negative || n.large != nil && n.large.Sign() < 0 }

// Compare returns -1, 0 or 1 if n is less than, equal to or greater than m.
func (n Number) Compare(m Number) int {
	if n.negative || m.negative || n.large != nil || m.large != nil {
		return n.Big().Cmp(m.Big())
	}
	return n.size.Compare(m.size)
}

// Append appends the number in decimal digits.
func (n Number) Append(to []byte) []byte {
	if n.large != nil || n.size.Hi != 0 {
		return n.Big().Append(to, 10)
	}
	if n.negative {
		to = append(to, '-')
	}
	return strconv.AppendUint(to, n.size.Lo, 10)
}

// Ratio returns n / d, multiplied by times and divided by by, which is not 0,
// and rounded half away from zero; ok is false if d is 0.
func Ratio(n, d Sum, times, by uint64) (r Number, ok bool) {
	if d == (Sum{}) {
		return Number{}, false
	}
	if n.over|n.total.Hi|d.over|d.total.Hi == 0 {
		r.size, ok = RatioOf64(n.total.Lo, d.total.Lo, times, by)
		return r, ok
	}
	return round(multiply(n.Big(), times), multiply(d.Big(), by)), true
}

// RatioOf64 is Ratio of numbers of 64 bits, which is never beyond 128.
func RatioOf64(n, d, times, by uint64) (r Uint128, ok bool) {
	if d == 0 {
		return Uint128{}, false
	}
	if divisor := Product(d, by); divisor.Hi == 0 {
		if r, ok = divide(Product(n, times), divisor.Lo); ok {
			return r, true
		}
	}
	return round(multiply(Whole(n).Big(), times), multiply(Whole(d).Big(), by)).size, true
}

// Difference returns n / d - m / e, multiplied by times and divided by by, which
// is not 0, and rounded half away from zero; ok is false if d or e is 0.
func Difference(n, d, m, e Sum, times, by uint64) (r Number, ok bool) {
	if d == (Sum{}) || e == (Sum{}) {
		return Number{}, false
	}
	if r, ok = smallDifference(n, d, m, e, times, by); ok {
		return r, true
	}
	divisor := d.Big()
	difference, product := n.Big(), m.Big()
	difference.Mul(difference, e.Big()).Sub(difference, product.Mul(product, divisor))
	divisor.Mul(divisor, e.Big())
	return round(multiply(difference, times), multiply(divisor, by)), true
}

// smallDifference is Difference in 128 bits; ok is false if they may be too few.
func smallDifference(n, d, m, e Sum, times, by uint64) (r Number, ok bool) {
	if n.over|n.total.Hi|d.over|d.total.Hi|m.over|m.total.Hi|e.over|e.total.Hi != 0 {
		return Number{}, false
	}
	divisor, ok := Product(d.total.Lo, e.total.Lo).Times(by)
	if !ok || divisor.Hi != 0 {
		return Number{}, false
	}
	difference, less := Product(n.total.Lo, e.total.Lo).Distance(Product(m.total.Lo, d.total.Lo))
	if difference, ok = difference.Times(times); !ok {
		return Number{}, false
	}
	r.size, ok = divide(difference, divisor.Lo)
	r.negative = less && r.size != Uint128{}
	return r, ok
}

// divide returns n / d, rounded half up; ok is false if n is too large for that.
// d is not 0.
func divide(n Uint128, d uint64) (quotient Uint128, ok bool) {
	n, ok = n.Add(Uint128{Lo: d / 2})
	quotient, _ = n.QuoRem(d)
	return quotient, ok
}

func multiply(n *big.Int, by uint64) *big.Int { return n.Mul(n, new(big.Int).SetUint64(by)) }

func round(n, d *big.Int) Number { return NumberOf(Round(n, d)) }

// Round returns n / d, rounded half away from zero. d must be positive. It
// overwrites both.
func Round(n, d *big.Int) *big.Int {
	n.Lsh(n, 1)
	if n.Sign() < 0 {
		n.Sub(n, d)
	} else {
		n.Add(n, d)
	}
	return n.Quo(n, d.Lsh(d, 1))
}
