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
		if _, ok := a.Add(Uint128{Lo: n}); ok && n < 1<<63 {
			same("halves", Halves(a, n), true, Round(new(big.Int).Set(x), new(big.Int).Lsh(z, 1)))
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
	s[1].AddSum(&halves[0])
	s[1].AddSum(&halves[1])
	for _, sum := range s {
		back, ok := SumOf(want)
		if sum.Big().Cmp(want) != 0 || !ok || back != sum || sum.IsZero() {
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
