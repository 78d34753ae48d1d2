package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"adlens"
)

func TestPercentilesAreNearestRanks(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0: 1, 20: 1, 21: 2, 50: 3, 99: 5, 100: 5} {
		if got := percentileOf(values, p); got != want {
			t.Errorf("p%g is %g, expected %g", p, got, want)
		}
	}
	if !math.IsNaN(percentileOf(nil, 50)) {
		t.Error("there is a median of nothing")
	}
}

func TestTheExponentOfAPowerIsFound(t *testing.T) {
	x := []float64{1e6, 1e7, 3e7, 1e8}
	for _, e := range []float64{0, 0.5, 1, 1.3} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 7 * math.Pow(x[i], e)
		}
		if got := fitExponent(x, y); math.Abs(got-e) > 1e-9 {
			t.Errorf("the exponent is %g, expected %g", got, e)
		}
	}
	if !math.IsNaN(fitExponent(x[:1], x[:1])) {
		t.Error("one size has an exponent")
	}
}

func TestSlowContestantsSitOut(t *testing.T) {
	p := pace{15, time.Second}
	for _, c := range []struct {
		rounds int
		spent  time.Duration
		enough bool
	}{{0, 0, false}, {0, time.Hour, false}, {1, 5 * time.Second, true}, {2, 2 * time.Second, false}, {3, 2 * time.Second, true}, {14, time.Millisecond, false}, {15, time.Millisecond, true}} {
		if p.enoughRounds(c.rounds, c.spent) != c.enough {
			t.Errorf("%d rounds in %s: expected %t", c.rounds, c.spent, c.enough)
		}
	}
}

// Whatever a period is split into, every held day is in it once.
func TestRollupsCoverAPeriodOnce(t *testing.T) {
	first, last := adlens.Date(2023, 3, 10), adlens.Date(2026, 11, 20)
	for from := first - 40; from <= last; from += 13 {
		for _, length := range []adlens.Day{0, 6, 29, 45, 200, 365, 800, 1400} {
			q := &question{endpoint: products, from: from, to: from + length}
			seen := map[adlens.Day]int{}
			for _, p := range q.rollupParts(first, last) {
				for day := max(p.from, first); day <= min(p.to, last); day++ {
					seen[day]++
				}
			}
			for day := first; day <= last; day++ {
				want := 0
				if q.from <= day && day <= q.to {
					want = 1
				}
				if seen[day] != want {
					t.Fatalf("%s to %s: %s is answered %d times", q.from, q.to, day, seen[day])
				}
			}
		}
	}
}

// The small accounts of one size are not those of another, and are one curve all
// the same.
func TestSmallAccountsOfAllSizesAreOneCurve(t *testing.T) {
	var curves []*Curve
	for size, accounts := range [][]string{{"small-001"}, {"small-001", "small-020", "small-101"}} {
		r := Results{Storage: Storage{Facts: int64(size + 1)}}
		for i, account := range append(accounts, "") {
			question := account + ": summary, all_time"
			if account == "" {
				question = "summary, all_time"
			}
			r.Questions = append(r.Questions, &Measured{Question: question, Times: []Times{{Contestant: nameAPI, Median: float64(10*size + i)}}})
		}
		r.addCurves(&curves)
	}
	got := map[string][]float64{}
	for _, c := range curves {
		got[c.What] = c.Values
	}
	for what, want := range map[string][]float64{"api: a small account: summary, all_time": {0, 11}, "api: summary, all_time": {1, 13}} {
		if !slices.Equal(got[what], want) {
			t.Errorf("%s: %v, expected %v", what, got[what], want)
		}
	}
}
