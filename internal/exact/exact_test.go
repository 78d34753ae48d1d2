package exact

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Numbers of every length, and those at the edges of words.
func numbers() *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 {
		n := rapid.Uint64().Draw(t, "n") >> rapid.IntRange(0, 63).Draw(t, "short")
		return rapid.SampledFrom([]uint64{n, -n, 0, 1<<64 - 1}).Draw(t, "edge")
	})
}

func wide(t *rapid.T, name string) Uint128 {
	return Uint128{numbers().Draw(t, name+" hi"), numbers().Draw(t, name+" lo")}
}

func TestNumbersOf128BitsAreThoseOfAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := wide(t, "a"), wide(t, "b"), numbers().Draw(t, "n")
		x, y, z := a.Big(), b.Big(), new(big.Int).SetUint64(n)
		same := func(what string, got Uint128, ok bool, want *big.Int) {
			t.Helper()
			fits := want.BitLen() <= 128
			if ok != fits || fits && got.Big().Cmp(want) != 0 {
				t.Fatalf("%s of %v, %v and %d: %v (%v), expected %s", what, a, b, n, got, ok, want)
			}
		}
		back, ok := Uint128Of(x)
		same("itself", back, ok, x)
		sum, ok := a.Add(b)
		same("sum", sum, ok, new(big.Int).Add(x, y))
		times, ok := a.Times(n)
		same("times", times, ok, new(big.Int).Mul(x, z))
		same("product", Product(a.Lo, n), true, new(big.Int).Mul(new(big.Int).SetUint64(a.Lo), z))
		d, less := a.Distance(b)
		same("distance", d, true, new(big.Int).Abs(new(big.Int).Sub(x, y)))
		if less != (x.Cmp(y) < 0) || a.Compare(b) != x.Cmp(y) {
			t.Fatalf("%v beside %v: %v, %d", a, b, less, a.Compare(b))
		}
		if n == 0 {
			return
		}
		q, rest := a.QuoRem(n)
		wantQ, wantRest := new(big.Int).QuoRem(x, z, new(big.Int))
		same("quotient", q, true, wantQ)
		if rest != wantRest.Uint64() {
			t.Fatalf("%v by %d leaves %d, expected %s", a, n, rest, wantRest)
		}
	})
}

func TestNegativeNumbersAndLargerOnesAreNone(t *testing.T) {
	for _, n := range []*big.Int{big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 192), new(big.Int).Lsh(big.NewInt(-1), 128)} {
		if u, ok := Uint128Of(n); ok {
			t.Errorf("%s is %v in 128 bits", n, u)
		}
		if s, ok := SumOf(n); ok {
			t.Errorf("%s is %v in 192 bits", n, s)
		}
	}
}

// A sum of the largest numbers passes 128 bits at the second.
func TestSumsAreExactBeyond128Bits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s, halves [2]Sum
	want := new(big.Int)
	for i := range 10_000 {
		n := Uint128{1<<64 - 1, 1<<64 - 1}
		if i%2 == 1 {
			n = Uint128{random.Uint64() >> random.IntN(64), random.Uint64()}
		}
		s[0].Add(n)
		halves[i%2].Add(n)
		want.Add(want, n.Big())
	}
	s[1].AddSum(halves[0])
	s[1].AddSum(halves[1])
	for _, sum := range s {
		back, ok := SumOf(want)
		if sum.Big().Cmp(want) != 0 || !ok || back != sum {
			t.Errorf("the sum is %s, expected %s (and back %v, %v)", sum.Big(), want, back, ok)
		}
	}
	if want.BitLen() < 138 || bits.Len64(s[0].over) == 0 {
		t.Errorf("%s does not pass 128 bits", want)
	}
}

func TestRoundIsHalfAwayFromZero(t *testing.T) {
	for _, c := range []struct{ n, d, want int64 }{
		{5, 10, 1}, {4, 10, 0}, {-5, 10, -1}, {-4, 10, 0}, {15, 10, 2}, {-15, 10, -2}, {1, 3, 0}, {2, 3, 1}, {0, 7, 0}, {-7, 7, -1},
	} {
		if got := Round(big.NewInt(c.n), big.NewInt(c.d)); got.Int64() != c.want {
			t.Errorf("%d / %d is %s, expected %d", c.n, c.d, got, c.want)
		}
	}
}

// sum draws a sum of each length.
func sum(t *rapid.T, name string) Sum {
	var s Sum
	s.total = wide(t, name)
	s.over = numbers().Draw(t, name+" over")
	for short := rapid.IntRange(0, 2).Draw(t, name+" is shorter by"); short > 0; short-- {
		s.over, s.total.Hi, s.total.Lo = 0, s.over, s.total.Hi
	}
	if rapid.Bool().Draw(t, name+" is small") {
		s.over, s.total.Hi = 0, 0
	}
	return s
}

// mustBe compares a number with a fraction as big.Rat rounds it.
func mustBe(t *rapid.T, what string, got Number, ok bool, want *big.Rat) {
	t.Helper()
	if ok != (want != nil) {
		t.Fatalf("%s: ok is %v, expected %v", what, ok, want)
	}
	if !ok {
		return
	}
	text := want.FloatString(0) // half away from zero
	if text == "-0" {
		text = "0"
	}
	if got.Big().String() != text || string(got.Append([]byte("n"))) != "n"+text || got.Negative() != (text[0] == '-') {
		t.Fatalf("%s is %s, %s, negative %v, expected %s", what, got.Big(), got.Append(nil), got.Negative(), text)
	}
}

// fraction is n times / (d by), nil without a divisor.
func fraction(n, d Sum, times, by uint64) *big.Rat {
	if d == (Sum{}) {
		return nil
	}
	r := new(big.Rat).SetFrac(n.Big(), d.Big())
	return r.Mul(r, new(big.Rat).SetFrac(new(big.Int).SetUint64(times), new(big.Int).SetUint64(by)))
}

func TestRatiosAndDifferencesAreThoseOfFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d, m, e := sum(t, "n"), sum(t, "d"), sum(t, "m"), sum(t, "e")
		if rapid.Bool().Draw(t, "nearly the same") {
			m, e = n, d
			m.Add(Uint128{Lo: rapid.Uint64Range(0, 9999).Draw(t, "more")})
		}
		times := rapid.SampledFrom([]uint64{1, 100, 10_000, 1<<64 - 1}).Draw(t, "times")
		by := rapid.SampledFrom([]uint64{1, 1_000_000, 1<<64 - 1}).Draw(t, "by")
		got, ok := Ratio(n, d, times, by)
		now, then := fraction(n, d, times, by), fraction(m, e, times, by)
		mustBe(t, "ratio", got, ok, now)
		before := [...]string{n.String(), d.String(), m.String(), e.String()}
		got, ok = Difference(n, d, m, e, times, by)
		if now == nil || then == nil {
			mustBe(t, "difference", got, ok, nil)
			return
		}
		mustBe(t, "difference", got, ok, now.Sub(now, then))
		if before != [...]string{n.String(), d.String(), m.String(), e.String()} {
			t.Fatal("the numbers changed")
		}
	})
}

func TestNumbersAreOrderedAsThoseOfAnySize(t *testing.T) {
	draw := func(t *rapid.T, name string) *big.Int {
		n := sum(t, name).Big()
		if rapid.Bool().Draw(t, name+" is negative") {
			n.Neg(n)
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		x, y := NumberOf(new(big.Int).Set(a)), NumberOf(new(big.Int).Set(b))
		if x.Compare(y) != a.Cmp(b) || x.Compare(x) != 0 || x.Big().Cmp(a) != 0 || x.Negative() != (a.Sign() < 0) {
			t.Fatalf("%s to %s is %d", a, b, x.Compare(y))
		}
		s, _ := SumOf(new(big.Int).Abs(a))
		if n, ok := Ratio(s, Whole(1), 1, 1); !ok || n.Big().CmpAbs(a) != 0 || n.Negative() {
			t.Fatalf("the sum %s is the number %s", s, n.Big())
		}
	})
}

func TestSumsOfMeasuresAreAddedByPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, together Sums
		want := make([]*big.Int, 5)
		for i := range want {
			want[i] = new(big.Int)
		}
		for range rapid.IntRange(0, 9).Draw(t, "rows") {
			row := make([]Uint128, rapid.IntRange(0, 5).Draw(t, "measures"))
			for i := range row {
				row[i] = wide(t, "measure")
				want[i].Add(want[i], row[i].Big())
			}
			s.Add(row)
			var one Sums
			one.Add(row)
			together.AddSums(one)
		}
		zero := true
		for i := range want {
			if got := s.At(i); got.Big().Cmp(want[i]) != 0 {
				t.Fatalf("measure %d is %s, expected %s", i, got, want[i])
			}
			zero = zero && want[i].Sign() == 0
		}
		if !s.Equal(together) || !together.Equal(s) || s.IsZero() != zero || s.Equal(nil) != zero {
			t.Fatalf("%v and %v; zero: %v", s, together, zero)
		}
		longer := append(s[:len(s):len(s)], Whole(1))
		if s.Equal(longer) || longer.Equal(s) || longer.IsZero() {
			t.Fatalf("%v is %v", s, longer)
		}
	})
}
