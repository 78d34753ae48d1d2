package loader

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
)

// Of the lists that are held, one that was loaded before hashes of exports were kept is
// replaced by the same export, and by no other that would not replace it anyway.
func TestAListWithoutAHashIsReplacedByItsOwnExport(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	export := func(id string, at time.Time, sum string) manifest.Source {
		return manifest.Source{ReportID: id, GeneratedAt: at, SHA256: sum}
	}
	for _, c := range []struct {
		name       string
		next, held manifest.Source
		want       bool
	}{
		{"the same export", export("b", noon, "1"), export("b", noon, ""), true},
		{"once", export("b", noon, "1"), export("b", noon, "1"), false},
		{"a lower id of its time", export("a", noon, "1"), export("b", noon, ""), false},
		{"an older one of its id", export("b", noon.Add(-1), "1"), export("b", noon, ""), false},
		{"a newer one", export("a", noon.Add(1), "1"), export("b", noon, ""), true},
		{"a list that was read then", export("", noon, ""), export("", noon, ""), false},
		{"an export of when one was read", export("b", noon.Add(-1), "1"), export("", noon, ""), false},
		{"a list that was read when it was made", export("", noon, ""), export("b", noon, ""), false},
	} {
		if got := supersedesSource(c.next, c.held); got != c.want {
			t.Errorf("%s replaces the list: %v, expected %v", c.name, got, c.want)
		}
	}
}

// Whichever files of the bank an older version loaded, and in whatever order: one that ends
// before the newest day that is held adds the days that are not held, and any other gives
// all of its days. Rates by hand, which have no such time, replace each other as ever.
func TestUndatedRatesGoBeforeFilesThatEndEarlier(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 33))
		worth := uint64(0)
		file := func() (days, byHand []Rate) {
			first, last := adlens.Day(random.IntN(10)), adlens.Day(10+random.IntN(10))
			for day := first; day <= last; day++ {
				if day == last || random.IntN(2) == 0 {
					worth++
					days = append(days, Rate{day, adlens.Units(worth), last})
					byHand = append(byHand, Rate{day, adlens.Units(worth), 0})
				}
			}
			return days, byHand
		}
		held, newest := NewRates(), adlens.Day(0)
		for range 1 + random.IntN(3) { // the older version: what is loaded last counts
			currency := []string{"EUR", "JPY"}[random.IntN(2)]
			_, undated := file()
			newest = max(newest, undated[len(undated)-1].Day)
			held, _ = held.With(Rates{RateTable{currency: undated}, RateTable{currency: undated}})
		}
		held.dateFetched()
		next, byHand := file()
		ends := next[len(next)-1].Day
		after, _ := held.With(Rates{RateTable{"EUR": byHand}, RateTable{"EUR": next}})
		if again, _ := after.Fetched.With(RateTable{"EUR": next}); !slices.Equal(again["EUR"], after.Fetched["EUR"]) {
			t.Errorf("seed %d: the file changes something once more", seed)
		}
		for _, rate := range next {
			want := rate.USD
			if i, found := held.Fetched.findDay("EUR", rate.Day); found && ends < newest {
				want = held.Fetched["EUR"][i].USD
			}
			if got, _ := after.Fetched.At("EUR", rate.Day); got != want {
				t.Errorf("seed %d: a file that ends on %d gives %s on day %d where day %d is held, expected %s", seed, ends, got, rate.Day, newest, want)
			}
			if got, _ := after.ByHand.At("EUR", rate.Day); got != rate.USD {
				t.Errorf("seed %d: a rate by hand is %s on day %d, expected %s", seed, got, rate.Day, rate.USD)
			}
		}
	}
}
