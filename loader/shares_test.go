package loader

import (
	"math/big"
	"slices"
	"testing"

	"adlens"
	"adlens/internal/exact"

	"pgregory.net/rapid"
)

// exactMicros is an amount's exact product with a rate, in millionths.
func exactMicros(a, rate adlens.Amount) *big.Rat {
	product := new(big.Rat).SetFrac(new(big.Int).Mul(a.Big(), rate.Big()), new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil))
	return product.Mul(product, big.NewRat(1_000_000, 1))
}

func cutOff(r *big.Rat) (whole *big.Int, rest *big.Rat) {
	whole = new(big.Int).Quo(r.Num(), r.Denom())
	return whole, new(big.Rat).Sub(r, new(big.Rat).SetInt(whole))
}

// checkShares holds shares against the contract's words, computed with fractions.
func checkShares(t rapid.TB, s *sharer, amounts []adlens.Amount, rate adlens.Amount) {
	shares, ok := s.shareMicros(amounts, rate)
	if !ok || len(shares) != len(amounts) {
		t.Fatalf("%d shares of %d amounts, %t", len(shares), len(amounts), ok)
	}
	total, own, given := new(big.Int), adlens.Amount{}, new(big.Int)
	rests := make([]*big.Rat, len(amounts))
	extra := make([]bool, len(amounts))
	for i, a := range amounts {
		own, _ = own.Add(a)
		var whole *big.Int
		whole, rests[i] = cutOff(exactMicros(a, rate))
		total.Add(total, shares[i].Big())
		given.Add(given, whole)
		over := new(big.Int).Sub(shares[i].Big(), whole)
		if extra[i] = over.Cmp(big.NewInt(1)) == 0; !extra[i] && over.Sign() != 0 && len(amounts) > 1 {
			t.Fatalf("share %d is %s, its exact dollars are cut to %s", i, shares[i].Big(), whole)
		}
	}
	if want, _ := own.Times(rate); total.Cmp(want.Big()) != 0 {
		t.Fatalf("the shares add up to %s, expected %s", total, want.Big())
	}
	if len(amounts) == 1 {
		return
	}
	order := make([]int, len(amounts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rests[b].Cmp(rests[a]) })
	left := int(new(big.Int).Sub(total, given).Int64())
	for place, i := range order {
		if extra[i] != (place < left) {
			t.Fatalf("amount %d, at place %d by what was cut off, has one more: %t; %d are left over", i, place, extra[i], left)
		}
	}
}

func TestSharesOfAProductsDayAddUp(t *testing.T) {
	var shared sharer
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]uint64{0, 1, 3, 99, 123_456, 5_000_000_000_000_000})
		amount := func(name string) adlens.Amount {
			units, _ := exact.Uint128{Lo: some.Draw(t, name)}.Times(rapid.SampledFrom([]uint64{1, 1e6, 1e12, 1e14, 1e18}).Draw(t, name+" times"))
			return adlens.AmountOf(units)
		}
		amounts := make([]adlens.Amount, rapid.IntRange(1, 30).Draw(t, "rows"))
		for i := range amounts {
			amounts[i] = amount("amount")
		}
		rate := adlens.One
		if rapid.Bool().Draw(t, "converted") {
			rate = amount("rate")
		}
		checkShares(t, &shared, amounts, rate)
	})
}

func TestAProductInThousandsOfCampaignsHasNoNegativeShare(t *testing.T) {
	var shared sharer
	cent, err := adlens.ParseAmount([]byte("0.01"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"0.02371851", "0.0243", "0.00005", "0.00004999", "1"} {
		rate, err := adlens.ParseAmount([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		checkShares(t, &shared, slices.Repeat([]adlens.Amount{cent}, 3000), rate)
	}
}

func TestPlacesGoByIDsAndNoneIsLast(t *testing.T) {
	t.Parallel()
	sorted := []adPlace{{"10", "7"}, {"10", ""}, {"9", "1"}, {"", "1"}, {"", "2"}, {"", ""}}
	for i := range sorted {
		for j := range sorted {
			if got, want := comparePlaces(sorted[i], sorted[j]), i-j; (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("%v and %v compare as %d", sorted[i], sorted[j], got)
			}
		}
	}
}
