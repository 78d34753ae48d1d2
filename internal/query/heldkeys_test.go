package query

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adlens/internal/manifest"
)

// holder is an engine that says in which years it has rows of numbers.
type holder struct {
	*engine
	years []HeldKey
	asked atomic.Int32
	mu    sync.Mutex
}

func (h *holder) HeldKeys(context.Context, Statement) ([]HeldKey, error) {
	h.asked.Add(1)
	return h.years, nil
}

func (h *holder) Ranked(ctx context.Context, s Statement, sums int, compared bool) ([]RankedRow, int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.engine.Ranked(ctx, s, sums, compared)
}

// A product with rows of one year and slice is read from that year's units alone, of
// both periods; it is looked for once, and again after a repair.
func TestOnlyYearsThatHaveARequestedIDAreRead(t *testing.T) {
	const ukProducts2025, ukBrands2025 = 212500, 222500
	for _, c := range []struct {
		of    ReportParams
		years []HeldKey
		want  []string // of the statements that sum, without brackets; the summary's and the page's
	}{
		{ReportParams{PeriodParams: PeriodParams{Range: "all_time"}}, []HeldKey{{3, ukProducts2025, 1}, {3, ukBrands2025, 1}}, []string{"212500,222500"}},
		{ReportParams{PeriodParams: PeriodParams{StartDate: "2025-12-20", EndDate: "2026-01-10"}, Compare: "previous_period"}, []HeldKey{{3, ukProducts2025, 1}}, []string{"212511,212512", "212512"}},
		{ReportParams{PeriodParams: PeriodParams{Range: "last_7_days"}}, []HeldKey{{3, ukProducts2025, 1}}, nil},
		{ReportParams{PeriodParams: PeriodParams{Range: "all_time"}}, nil, nil},
	} {
		c.of.Dimensions, c.of.ProductIDs = []string{"product"}, []string{"P3"}
		h := &holder{engine: newEngine(), years: c.years}
		s := NewService(h, nil)
		v, _ := s.View(t.Context(), "acct-9")
		r, faults := ParseReport(c.of, v, now)
		mustNotFail(t, faults)
		ask := func() {
			if _, err := s.Report(t.Context(), v, r); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		first := h.asked.Load()
		s.Forget("acct-8")
		ask()
		kept := h.asked.Load()
		s.Forget("acct-9")
		ask()
		repaired := h.asked.Load()
		s.Forget("")
		ask()
		if first == 0 || kept != first || repaired == kept || h.asked.Load() == repaired {
			t.Errorf("%v: it was looked for %d times, then %d, %d after a repair, and %d after all was forgotten", c.of.PeriodParams, first, kept, repaired, h.asked.Load())
		}
		var read []string
		for _, statement := range h.engine.asked {
			for name, value := range statement.Params {
				if slices.Contains([]string{"years", "months", "days", "undivided_years", "undivided_months", "earlier_years", "earlier_months", "earlier_days"}, name) {
					read = append(read, strings.Trim(value, "[]"))
				}
			}
		}
		slices.Sort(read)
		if read = slices.Compact(read); !slices.Equal(read, c.want) {
			t.Errorf("%v: generations %q were read, expected %q", c.of.PeriodParams, read, c.want)
		}
	}
}

// What a legacy report alone says counts nowhere, so it makes no id known.
func TestIDsThatCountNowhereAreNotHeld(t *testing.T) {
	v := exampleView()
	before, _ := v.heldKeysStatement(identified[0], []uint32{3})
	v.Manifest = v.Manifest.With(v.Manifest.Version+1, manifest.Entry{Generation: 99,
		Unit: manifest.Unit{Kind: manifest.Year, Slice: manifest.Slice{Marketplace: usKey, AdProduct: manifest.LegacyReported}, Start: day("2025-01-01")}})
	after, some := v.heldKeysStatement(identified[0], []uint32{3})
	if !some || before.Params["generations"] != after.Params["generations"] {
		t.Errorf("generations %s are looked through, expected %s", after.Params["generations"], before.Params["generations"])
	}
}
