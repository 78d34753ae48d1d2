package query

import (
	"fmt"
	"math/big"
	"testing"

	"adlens"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var january = Request{Period: days("2026-01-01", "2026-01-31")}

type bySlice = map[group]*sides

func sliceOf(marketplace uint16, product adlens.AdProduct) group {
	return group{marketplace: marketplace, adProduct: product}
}

// outline is who is listed in a summary and with what spend.
func outline(s *Summary) []string {
	all := []string{"total " + figure(s.Total, "spend")}
	for _, m := range s.ByMarketplace {
		all = append(all, fmt.Sprint(m.Marketplace.Country, " ", m.Marketplace.ID, " ", figure(m.Figures, "spend")))
	}
	for _, p := range s.ByAdProduct {
		all = append(all, fmt.Sprint(p.AdProduct, " ", figure(p.Figures, "spend")))
	}
	return all
}

// Each part is rounded on its own, so what is shown of the parts need not add
// up to what is shown of the total: 0.01 is 0.004 + 0.004 + 0.004.
func TestPartsAreListedByTheirShownSpendAndTheTotalIsExact(t *testing.T) {
	rows := bySlice{
		sliceOf(usKey, adlens.SponsoredProducts):  {sums(1, 0, 0, 4_000, 0)},
		sliceOf(uk2Key, adlens.SponsoredBrands):   {sums(1, 0, 0, 4_000, 0)},
		sliceOf(uk1Key, adlens.SponsoredProducts): {sums(1, 0, 0, 3_900, 0)}, // ties with uk2 as shown
	}
	want := []string{"total 0.01", "UK 2001 0.00", "UK 2002 0.00", "US 1001 0.00", "SPONSORED_PRODUCTS 0.01", "SPONSORED_BRANDS 0.00"}
	if diff := cmp.Diff(want, outline(newSummary(january, exampleView(), rows))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTiesOfSpendAreListedByName(t *testing.T) {
	rows := bySlice{}
	for _, p := range adlens.AdProducts {
		rows[sliceOf(usKey, p)] = &sides{sums(0, 1, 0, 0, 0)}
	}
	want := []string{"total 0.00", "US 1001 0.00", "SPONSORED_BRANDS 0.00", "SPONSORED_DISPLAY 0.00", "SPONSORED_PRODUCTS 0.00"}
	if diff := cmp.Diff(want, outline(newSummary(january, exampleView(), rows))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPartsWithoutFiguresAreNotListed(t *testing.T) {
	rows := bySlice{
		sliceOf(usKey, adlens.SponsoredProducts): {},
		sliceOf(uk1Key, adlens.SponsoredBrands):  {sums(0, 0, 0, 0, 1)},
	}
	want := []string{"total 0.00", "UK 2001 0.00", "SPONSORED_BRANDS 0.00"}
	if diff := cmp.Diff(want, outline(newSummary(january, exampleView(), rows))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Lists are written as [], never as null.
func TestASummaryOfNothingHasZerosAndEmptyLists(t *testing.T) {
	s := newSummary(january, exampleView(), nil)
	if s.ByMarketplace == nil || s.ByAdProduct == nil || len(s.ByMarketplace)+len(s.ByAdProduct) > 0 {
		t.Errorf("got %+v", s)
	}
	if got := shown(s.Total[0]) + shown(s.Total[2]) + shown(s.Total[4]); got != "0.00null0" {
		t.Errorf("got %s", got)
	}
}

// Counts are shown unrounded, so what is shown of parts must add up.
func TestPartsAddUpToTheTotalBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := bySlice{}
		for _, key := range []uint16{usKey, uk1Key, uk2Key} {
			for _, p := range adlens.AdProducts {
				rows[sliceOf(key, p)] = &sides{drawSums(t)}
			}
		}
		s := newSummary(january, exampleView(), rows)
		var byMarketplace, byProduct, total big.Int
		for _, m := range s.ByMarketplace {
			addShown(&byMarketplace, m.Figures)
		}
		for _, p := range s.ByAdProduct {
			addShown(&byProduct, p.Figures)
		}
		addShown(&total, s.Total)
		if byMarketplace.Cmp(&total) != 0 || byProduct.Cmp(&total) != 0 {
			t.Fatalf("%s by marketplace, %s by ad product, %s in all", &byMarketplace, &byProduct, &total)
		}
	})
}

func addShown(to *big.Int, f Figures) {
	n, ok := new(big.Int).SetString(figure(f, "impressions"), 10)
	if !ok {
		panic(figure(f, "impressions"))
	}
	to.Add(to, n)
}

func TestPointsWithoutFiguresAreOmittedAndOthersKeepTheirOrder(t *testing.T) {
	rows := map[group]*sides{{bucket: 0}: {sums(1, 0, 0, 0, 0)}, {bucket: 1}: {sums(0, 0, 0, 0, 0)}, {bucket: 2}: {sums(0, 0, 0, 0, 1)}}
	daily := january
	daily.Granularity = ByDay
	p := newTimeline(daily, exampleView(), rows).Points
	if len(p) != 2 || *p[0].Date != day("2026-01-01") || *p[1].Date != day("2026-01-03") {
		t.Errorf("got %+v", p)
	}
	if p := newTimeline(daily, exampleView(), nil).Points; p == nil || len(p) > 0 {
		t.Errorf("got %+v", p)
	}
}

func TestTheMetaIsOfTheWholeAccountWhateverTheFilters(t *testing.T) {
	for _, c := range []struct {
		start   string
		covered bool
	}{{"2024-09-30", false}, {"2024-10-01", true}, {"2026-01-01", true}, {"2027-01-01", true}} {
		r := Request{Period: days(c.start, "2027-12-31"), Filters: Filters{Marketplaces: []string{"UK"}, AdProducts: []adlens.AdProduct{adlens.SponsoredBrands}}}
		m := newAnswer(r, exampleView()).Meta
		if m.HistoryCovered != c.covered || m.LastDate == nil || *m.LastDate != day("2026-11-19") || m.Truncated {
			t.Errorf("from %s: %+v", c.start, m)
		}
	}
}

func TestAnAccountWithoutDaysHasNoLastDateAndNoHistory(t *testing.T) {
	if m := newAnswer(january, View{}).Meta; m.LastDate != nil || m.HistoryCovered || m.Truncated {
		t.Errorf("got %+v", m)
	}
}
