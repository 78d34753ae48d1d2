package adlens

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"adlens/internal/exact"

	"pgregory.net/rapid"
)

func TestAmountsAreReadExactly(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0.0": "0", "14.5": "14.5", "14.50": "14.5", "1E-7": "0.0000001", "1.5e2": "150",
		"59.980000000000004": "59.980000000000004", "0.00000000000000000001": "0.00000000000000000001",
		"999999999999.99": "999999999999.99", "0.000000000000000000010": "0.00000000000000000001", "0e9999": "0",
		"0." + strings.Repeat("0", 9_998) + "1e10000": "10", "1" + strings.Repeat("0", 10_000) + "e-0010000": "1",
	} {
		got, err := ParseAmount([]byte(text))
		if err != nil || got.String() != want {
			t.Errorf("ParseAmount(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestTextsThatAreNoAmountAreRefused(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrNoNumber, "-": ErrNoNumber, ".5": ErrNoNumber, "5.": ErrNoNumber, "1,5": ErrNoNumber, "NaN": ErrNoNumber,
		"0x10": ErrNoNumber, "1_000": ErrNoNumber, "1e": ErrNoNumber, "+1": ErrNoNumber, "-0.01": ErrNegative,
		"1000000000000": ErrTooLarge, "1e99999": ErrTooLarge, "1e12": ErrTooLarge, "1e99999999999999999999": ErrTooLarge, "1e-99999999999999999999": ErrManyDecimals, "0.000000000000000000001": ErrManyDecimals,
		"1e-9999": ErrManyDecimals, "100000000000000000000000000000000000000000": ErrTooLarge,
	} {
		if got, err := ParseAmount([]byte(text)); !errors.Is(err, want) {
			t.Errorf("ParseAmount(%q) = %s, %v; want the error %v", text, got, err, want)
		}
	}
}

func TestCountsAreWholeAndBounded(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "13": 13, "13.0": 13, "1.3e1": 13, "1" + strings.Repeat("0", 10_000) + "e-10000": 1, "9223372036854775807": 1<<63 - 1} {
		if got, err := ParseCount([]byte(text)); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]error{"13.5": ErrFraction, "-1": ErrNegative, "9223372036854775808": ErrTooLarge, "x": ErrNoNumber} {
		if got, err := ParseCount([]byte(text)); !errors.Is(err, want) {
			t.Errorf("ParseCount(%q) = %d, %v; want the error %v", text, got, err, want)
		}
	}
}

// The oracle is math/big's rational arithmetic.
func TestSumsAndProductsEqualRationalArithmetic(t *testing.T) {
	// Few decimals go another way than many, and fives end in ties.
	number := rapid.OneOf(rapid.StringMatching(`[0-9]{1,11}(\.[0-9]{1,20})?`), rapid.StringMatching(`[0-9]{1,11}(\.[0-9]{0,5}5)?`),
		rapid.StringMatching(`[0-9]{1,3}\.[0-9]{0,11}5`))
	rapid.Check(t, func(t *rapid.T) {
		x, y := number.Draw(t, "x"), number.Draw(t, "y")
		a, errA := ParseAmount([]byte(x))
		b, errB := ParseAmount([]byte(y))
		if errA != nil || errB != nil {
			t.Fatalf("ParseAmount(%q, %q): %v, %v", x, y, errA, errB)
		}
		sum, ok := a.Add(b)
		if want := new(big.Rat).Add(rat(x), rat(y)); !ok || rat(sum.String()).Cmp(want) != 0 {
			t.Fatalf("%s + %s = %s", x, y, sum)
		}
		product := new(big.Rat).Mul(rat(x), rat(y))
		want := product.Mul(product, big.NewRat(1e6, 1)).FloatString(0)
		if micros, ok := a.Times(b); !ok || micros.Big().String() != want {
			t.Fatalf("%s x %s = %s millionths, want %s", x, y, micros.Big(), want)
		}
		if micros, ok := a.Times(One); !ok || micros.Big().String() != new(big.Rat).Mul(rat(x), big.NewRat(1e6, 1)).FloatString(0) {
			t.Fatalf("%s x 1 = %s millionths", x, micros.Big())
		}
		micros, rest := a.Micros()
		if back, ok := FromMicros(micros, rest); !ok || back != a {
			t.Fatalf("%s does not survive being taken apart into millionths", x)
		}
	})
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"0", "14.50", "-1", "1e5", "0.1e-3", "999999999999.999999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ParseAmount(text)
		if err != nil || len(text) > 100 || bytes.ContainsAny(text, "eE") {
			return // the oracle does not know every exponent
		}
		if rat(a.String()).Cmp(rat(string(text))) != 0 {
			t.Fatalf("%q was read as %s", text, a)
		}
	})
}

// A report's row is converted twice. Most amounts have two decimals, and most
// rates six.
func BenchmarkTimes(b *testing.B) {
	amount, _ := ParseAmount([]byte("1234.56"))
	rate, _ := ParseAmount([]byte("1.084217"))
	for b.Loop() {
		amount.Times(rate)
	}
}

// Add reports a sum that exceeds 128 bits and never wraps around.
func TestAnAmountHoldsThreeMillionOfTheLargest(t *testing.T) {
	largest, err := ParseAmount([]byte("999999999999.99999999999999999999"))
	if err != nil {
		t.Fatal(err)
	}
	const most = 3_402_823 // 2^128 / 10^32
	units, ok := largest.Units().Times(most)
	if !ok {
		t.Fatalf("%d of the largest amounts do not fit", most)
	}
	sum := AmountOf(units)
	if want := new(big.Rat).Mul(rat(largest.String()), big.NewRat(most, 1)); rat(sum.String()).Cmp(want) != 0 {
		t.Errorf("%d of the largest amounts are %s", most, sum)
	}
	if more, ok := sum.Add(largest); ok {
		t.Errorf("one more is %s", more)
	}
}

// Products of short amounts and rates, which 128 bits hold, are those of big numbers.
func TestProductsAreThoseOfBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, decimals int) Amount {
			units, _ := exact.Uint128{Lo: rapid.Uint64().Draw(t, name)}.Times(powers[AmountDecimals-decimals].units.Lo)
			return Amount{units}
		}
		a := draw("amount", rapid.SampledFrom([]int{6, 7, 20}).Draw(t, "decimals"))
		rate := draw("rate", rapid.SampledFrom([]int{12, 13, 20}).Draw(t, "decimals of the rate"))
		product := new(big.Int).Mul(a.Big(), rate.Big())
		quotient, rest := new(big.Int).QuoRem(product, productPerMicro, new(big.Int))
		if micros, cut, ok := a.TimesCut(rate); ok && (micros.Big().Cmp(quotient) != 0 || cut.Big().Cmp(rest) != 0) {
			t.Errorf("%s times %s is cut to %s and %s, expected %s and %s", a, rate, micros.Big(), cut.Big(), quotient, rest)
		}
		if micros, ok := a.Times(rate); ok && micros.Big().Cmp(exact.Round(product, new(big.Int).Set(productPerMicro))) != 0 {
			t.Errorf("%s times %s is rounded to %s", a, rate, micros.Big())
		}
	})
}
