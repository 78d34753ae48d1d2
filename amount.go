package adlens

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"adlens/internal/exact"
)

// Amount is an exact, non-negative decimal: money, or a rate of exchange. It
// counts units of 10^-20 in 128 bits, so it holds what any platform prints
// (binary floats that leaked into its files have up to 17 digits) and sums of less
// than 2^128 units, which is 3.4 x 10^18: those of 3,402,823 of the largest amounts
// that ParseAmount reads, and not of one more. Check the result of Add,
// or add units in an exact.Sum, which holds those of any number of rows.
type Amount struct{ units exact.Uint128 }

// AmountDecimals is how many decimals an Amount keeps.
const AmountDecimals = 20

// Why a text is no Amount.
var (
	ErrNoNumber     = errors.New("no decimal number")
	ErrNegative     = errors.New("negative")
	ErrTooLarge     = errors.New("too large")
	ErrManyDecimals = errors.New("more than 20 decimals")
)

// maxAmount is 10^12: the contract refuses amounts of that size and more.
var maxAmount = Amount{exact.Product(1e16, 1e16)} // in units of 10^-20

// times is for products that are known to fit.
func (a Amount) times(n uint64) Amount {
	units, _ := a.units.Times(n)
	return Amount{units}
}

// ParseAmount reads a JSON number (a sign, digits, a fraction, an exponent)
// as an exact decimal below 10^12.
func ParseAmount(text []byte) (Amount, error) {
	if a, ok := parseShort(text); ok {
		return a, nil
	}
	digits, exponent, negative, err := splitNumber(text)
	if err != nil {
		return Amount{}, err
	}
	a, err := scaleDigits(digits, exponent+AmountDecimals)
	if err != nil {
		return Amount{}, err
	}
	if negative && !a.IsZero() {
		return Amount{}, ErrNegative
	}
	if !a.Less(maxAmount) {
		return Amount{}, ErrTooLarge
	}
	return a, nil
}

// parseShort reads digits with perhaps a point among them that fit into 64
// bits, which nearly all amounts are.
func parseShort(text []byte) (a Amount, ok bool) {
	const surelyFit, maxWhole = 19, 12
	if len(text) > surelyFit {
		return Amount{}, false
	}
	var digits uint64
	point := len(text)
	for i, c := range text {
		switch {
		case c-'0' <= 9:
			digits = digits*10 + uint64(c-'0')
		case c == '.' && point == len(text):
			point = i
		default:
			return Amount{}, false
		}
	}
	decimals := max(len(text)-point-1, 0)
	if point == 0 || point > maxWhole || point < len(text) && decimals == 0 {
		return Amount{}, false
	}
	return powers[AmountDecimals-decimals].times(digits), true
}

// powers are those of ten that an Amount's units may stand for.
var powers = func() (all [AmountDecimals + 1]Amount) {
	all[0] = Units(1)
	for i := range AmountDecimals {
		all[i+1] = all[i].times(10)
	}
	return all
}()

// splitNumber takes a number apart: its digits without the point, and the
// power of ten that they are to be multiplied by.
func splitNumber(text []byte) (digits []byte, exponent int, negative bool, err error) {
	rest := text
	if len(rest) > 0 && rest[0] == '-' {
		negative, rest = true, rest[1:]
	}
	whole := leadingDigits(rest)
	if whole == 0 {
		return nil, 0, false, ErrNoNumber
	}
	digits, rest = rest[:whole], rest[whole:]
	if len(rest) > 0 && rest[0] == '.' {
		n := leadingDigits(rest[1:])
		if n == 0 {
			return nil, 0, false, ErrNoNumber
		}
		digits = append(digits[:whole:whole], rest[1:1+n]...)
		exponent, rest = -n, rest[1+n:]
	}
	e, err := parseExponent(rest)
	return digits, exponent + e, negative, err
}

func parseExponent(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, ErrNoNumber
	}
	text = text[1:]
	sign := 1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if n := leadingDigits(text); n == 0 || n != len(text) {
		return 0, ErrNoNumber
	}
	// Beyond what digits there can be, only the direction matters: too large or too fine.
	e := 0
	for _, c := range text {
		e = min(e*10+int(c-'0'), 1<<30)
	}
	return sign * e, nil
}

func leadingDigits(text []byte) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// scaleDigits returns digits times 10^shift as a whole number of units.
func scaleDigits(digits []byte, shift int) (Amount, error) {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	for shift < 0 && len(digits) > 0 {
		if digits[len(digits)-1] != '0' {
			return Amount{}, ErrManyDecimals
		}
		digits, shift = digits[:len(digits)-1], shift+1
	}
	if len(digits) == 0 {
		return Amount{}, nil
	}
	// 10^38 fits into 128 bits, 10^39 does not.
	if len(digits)+shift > 38 {
		return Amount{}, ErrTooLarge
	}
	var a Amount
	for _, c := range digits {
		a, _ = a.times(10).Add(Units(uint64(c - '0')))
	}
	for ; shift > 0; shift-- {
		a = a.times(10)
	}
	return a, nil
}

// Add returns the exact sum; ok is false where 128 bits do not hold it.
func (a Amount) Add(b Amount) (sum Amount, ok bool) {
	sum.units, ok = a.units.Add(b.units)
	return sum, ok
}

// Units returns an amount of n times the smallest unit, 10^-20.
func Units(n uint64) Amount { return Amount{exact.Uint128{Lo: n}} }

// Less reports whether a is smaller than b.
func (a Amount) Less(b Amount) bool { return a.units.Compare(b.units) < 0 }

// IsZero reports whether the amount is 0.
func (a Amount) IsZero() bool { return a == Amount{} }

// Units of the stored columns: whole millionths, and the rest below them.
const (
	microDecimals = 6
	unitsPerMicro = 100_000_000_000_000 // 10^(20-6)
)

// Micros takes the amount apart into whole millionths and the remaining units of
// 10^-20.
func (a Amount) Micros() (whole exact.Uint128, rest uint64) { return a.units.QuoRem(unitsPerMicro) }

// FromMicros is the reverse of Micros; ok is false where 128 bits do not hold
// the amount. The rest may be any number of units.
func FromMicros(whole exact.Uint128, rest uint64) (a Amount, ok bool) {
	units, fits := whole.Times(unitsPerMicro)
	a, ok = Amount{units}.Add(Units(rest))
	return a, ok && fits
}

// AmountOf is the reverse of Units.
func AmountOf(units exact.Uint128) Amount { return Amount{units} }

// RoundMicros rounds the amount half away from zero to whole millionths.
func (a Amount) RoundMicros() exact.Uint128 {
	whole, rest := a.Micros()
	if rest >= unitsPerMicro/2 {
		whole, _ = whole.Add(exact.Uint128{Lo: 1})
	}
	return whole
}

// One is the rate of US dollars to themselves.
var One = Amount{exact.Product(1e10, 1e10)}

// Times multiplies the amount with a rate exactly and rounds the product half
// away from zero to whole millionths; ok is false where 128 bits do not hold
// them.
func (a Amount) Times(rate Amount) (micros exact.Uint128, ok bool) {
	if rate == One {
		return a.RoundMicros(), true
	}
	if product, ok := a.timesShort(rate); ok {
		product, _ = product.Add(exact.Uint128{Lo: shortPerMicro / 2}) // (2^64-1)^2 plus this is less than 2^128
		micros, _ = product.QuoRem(shortPerMicro)
		return micros, true
	}
	return exact.Uint128Of(exact.Round(new(big.Int).Mul(a.Big(), rate.Big()), new(big.Int).Set(productPerMicro)))
}

// TimesCut multiplies the amount with a rate exactly and cuts the product to whole
// millionths. What was cut off is in units of 10^-40. ok is false where 128 bits do
// not hold the millionths.
func (a Amount) TimesCut(rate Amount) (micros, cut exact.Uint128, ok bool) {
	if rate == One {
		micros, rest := a.Micros()
		cut, _ = exact.Product(rest, 1e10).Times(1e10)
		return micros, cut, true
	}
	if product, ok := a.timesShort(rate); ok {
		micros, rest := product.QuoRem(shortPerMicro)
		cut, _ = exact.Product(rest, 1e12).Times(1e10) // less than 10^34
		return micros, cut, true
	}
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Mul(a.Big(), rate.Big()), productPerMicro, new(big.Int))
	cut, _ = exact.Uint128Of(rest)
	micros, ok = exact.Uint128Of(quotient)
	return micros, cut, ok
}

// Over divides the amount by another, which is not 0, exactly and rounds the
// quotient half away from zero to so many decimals, at most AmountDecimals; ok is
// false where 128 bits do not hold it.
func (a Amount) Over(b Amount, decimals int) (quotient Amount, ok bool) {
	ones := exact.Round(new(big.Int).Mul(a.Big(), powers[decimals].Big()), b.Big())
	quotient.units, ok = exact.Uint128Of(ones.Mul(ones, powers[AmountDecimals-decimals].Big()))
	return quotient, ok
}

// shortPerMicro is how many units of a short product a millionth has.
const shortPerMicro = 1_000_000_000_000

// timesShort is the exact product, in units of 10^-18, of whole millionths and a rate
// of up to twelve decimals, which nearly all are; ok is false for others, and where 64
// bits do not hold one of them.
func (a Amount) timesShort(rate Amount) (product exact.Uint128, ok bool) {
	const unitsPerRate = 100_000_000 // 10^(20-12)
	amount, belowMicros := a.Micros()
	short, belowShort := rate.units.QuoRem(unitsPerRate)
	return exact.Product(amount.Lo, short.Lo), amount.Hi|belowMicros|short.Hi|belowShort == 0
}

// A product of two amounts counts units of 10^-40.
var productPerMicro = new(big.Int).Exp(big.NewInt(10), big.NewInt(2*AmountDecimals-microDecimals), nil)

// Big returns the amount in units of 10^-20.
func (a Amount) Big() *big.Int { return a.units.Big() }

// String writes the amount without needless zeros.
func (a Amount) String() string {
	text := fmt.Sprintf("%021s", a.Big())
	whole, fraction := text[:len(text)-AmountDecimals], text[len(text)-AmountDecimals:]
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// ParseCount reads a JSON number as a count: whole, not negative, at most
// 2^63-1.
func ParseCount(text []byte) (uint64, error) {
	digits, exponent, negative, err := splitNumber(text)
	if err != nil {
		return 0, err
	}
	n, err := scaleDigits(digits, exponent)
	switch {
	case errors.Is(err, ErrManyDecimals):
		return 0, ErrFraction
	case err != nil:
		return 0, err
	case negative && !n.IsZero():
		return 0, ErrNegative
	case n.units.Hi > 0 || n.units.Lo > 1<<63-1:
		return 0, ErrTooLarge
	}
	return n.units.Lo, nil
}

// ErrFraction says that a count is not whole.
var ErrFraction = errors.New("not a whole number")

// Units are how many units of 10^-20 the amount is.
func (a Amount) Units() exact.Uint128 { return a.units }
