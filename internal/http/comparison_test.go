package http

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// newTwoYears is a world that also held March a year ago: a lamp that sold
// worse, and a rope that is not sold any more.
func newTwoYears() *world {
	w := newWorld()
	us := manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}
	march := manifest.Unit{Kind: manifest.Month, Slice: us, Start: adlens.Date(2025, 3, 1)}
	w.view.Manifest = w.view.Manifest.With(8, manifest.Entry{Unit: march, Generation: 4, Sources: []manifest.Source{{Days: 0x7fffffff}}})
	w.days = append(w.days,
		query.DayTotal{Generation: 4, Day: adlens.Date(2025, 3, 2), Sums: wide(300, 6, 0, 1_500_000, 0)},
		query.DayTotal{Generation: 4, Day: adlens.Date(2025, 3, 8), Sums: wide(500, 4, 2, 3_000_000, 10_000_000)})
	w.items[0].Earlier = sums(500, 4, 2, 3_000_000, 10_000_000)
	w.items = slices.Insert(w.items, 1, query.RankedRow{ID: "B0ROPE", Earlier: sums(300, 6, 0, 1_500_000, 0)})
	return w
}

func TestComparisonsAreWrittenAsTheContractSays(t *testing.T) {
	for name, path := range map[string]string{
		"summary_compared":            "/api/v1/summary?range=this_month&compare=previous_year",
		"summary_compared_uncovered":  "/api/v1/summary?range=this_month&compare=previous_period",
		"timeline_compared":           "/api/v1/timeline?range=this_month&compare=PREVIOUS_YEAR",
		"timeline_compared_by_months": "/api/v1/timeline?start_date=2025-03-01&end_date=2026-03-31&compare=previous_year",
		"products_compared":           "/api/v1/reports/products?range=this_month&compare=previous_year&sort=acos&order=asc",
	} {
		w := newTwoYears()
		if strings.HasSuffix(name, "uncovered") {
			w = newWorld()
		}
		got := ask(handler(w, "acme-active"), path)
		if got.Code != http.StatusOK {
			t.Errorf("%s: status %d, %s", path, got.Code, got.Body)
		}
		golden(t, name, got.Body.String())
	}
}

func TestAComparisonWithoutADayIsRefused(t *testing.T) {
	got := ask(handler(newWorld(), "acme-active"), "/api/v1/summary?range=today&compare=previous_year")
	for _, part := range []string{`"code":"invalid_parameter"`, `"parameter":"compare"`, `"value":"previous_year"`, "2026-03-10", "2026-03-09"} {
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), part) {
			t.Errorf("status %d without %s: %s", got.Code, part, got.Body)
		}
	}
}

// Nothing that depends on the comparison may be taken from an answer without.
func TestAComparisonIsAnAnswerOfItsOwn(t *testing.T) {
	h := handler(newTwoYears(), "acme-active")
	seen := map[string]string{}
	for _, compare := range []string{"none", "previous_period", "previous_year"} {
		got := ask(h, "/api/v1/summary?range=last_month&compare="+compare)
		tag := got.Header().Get("ETag")
		if other, ok := seen[tag]; ok || tag == "" {
			t.Errorf("%s has the tag %s of %s", compare, tag, other)
		}
		seen[tag] = compare
		if again := ask(h, "/api/v1/summary?range=last_month&compare="+strings.ToUpper(compare), "If-None-Match", tag); again.Code != http.StatusNotModified {
			t.Errorf("%s in capitals: status %d", compare, again.Code)
		}
	}
}
