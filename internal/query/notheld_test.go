package query

import (
	"fmt"
	"testing"

	"adlens"
	"adlens/internal/manifest"
)

// Days that no report of a slice covers are named where they are in the period, or in the one
// that it is compared with: from its first report on, up to the account's newest day.
func TestDaysThatAreNotHeldAreNamed(t *testing.T) {
	month := func(marketplace uint16, product adlens.AdProduct, from, to string) manifest.Entry {
		first, last := day(from), day(to)
		return manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: marketplace, AdProduct: product}, Start: first.FirstOfMonth()},
			Generation: 1, Sources: []manifest.Source{{ReportID: "r", Days: manifest.DaysBetween(first, last)}}}
	}
	holed := month(usKey, adlens.SponsoredProducts, "2025-03-01", "2025-03-10")
	holed.Sources = append(holed.Sources, manifest.Source{ReportID: "s", Days: manifest.DaysBetween(day("2025-03-14"), day("2025-03-31"))})
	v := exampleView()
	v.Manifest = manifest.New(1, holed,
		month(usKey, adlens.SponsoredProducts, "2025-05-02", "2025-05-31"), // April is missing, and 1 May
		month(usKey, adlens.SponsoredBrands, "2025-05-01", "2025-05-31"),   // begins later
		month(uk1Key, adlens.SponsoredProducts, "2025-03-01", "2025-03-31"),
		month(uk1Key, adlens.SponsoredProducts, "2025-04-01", "2025-04-30"),
		month(uk1Key, adlens.SponsoredProducts, "2025-05-01", "2025-05-28"),
		month(uk1Key, manifest.LegacyReported, "2025-05-01", "2025-05-30"), // is no day of Sponsored Brands
	)
	for _, c := range []struct {
		what    string
		r       Request
		missing []string
	}{
		{"a whole period", Request{Period: days("2025-03-14", "2025-03-31")}, nil},
		{"a hole in a month", Request{Period: days("2025-03-01", "2025-03-31")}, []string{"1001 SPONSORED_PRODUCTS 2025-03-11 2025-03-13 3"}},
		{"a part of a hole", Request{Period: days("2025-03-12", "2025-04-02")}, []string{"1001 SPONSORED_PRODUCTS 2025-03-12 2025-04-02 4"}},
		{"before the first report", Request{Period: days("2025-01-01", "2025-03-10")}, nil},
		{"behind, and not after the newest day", Request{Period: days("2025-05-02", "2025-06-30")}, []string{"2001 SPONSORED_PRODUCTS 2025-05-29 2025-05-31 3"}},
		{"a marketplace", Request{Period: days("2025-05-01", "2025-06-30"), Filters: Filters{Marketplaces: []string{"US"}}}, []string{"1001 SPONSORED_PRODUCTS 2025-05-01 2025-05-01 1"}},
		{"other ad products", Request{Period: days("2025-05-01", "2025-06-30"), Filters: Filters{AdProducts: []adlens.AdProduct{adlens.SponsoredBrands}}}, nil},
		{"compared", Request{Period: days("2025-05-02", "2025-05-28"), Earlier: days("2025-03-09", "2025-04-01")}, []string{"1001 SPONSORED_PRODUCTS 2025-03-11 2025-04-01 4"}},
		{"compared, days in both", Request{Period: days("2025-03-12", "2025-05-02"), Earlier: days("2025-03-10", "2025-04-30")}, []string{"1001 SPONSORED_PRODUCTS 2025-03-11 2025-05-01 34"}},
	} {
		if c.r.Earlier.Start != 0 {
			c.r.Earlier.Range = "previous_year"
		}
		var got []string
		for _, part := range newAnswer(c.r, v).Meta.NotHeld {
			got = append(got, fmt.Sprint(part.Marketplace.ID, " ", part.AdProduct, " ", part.First, " ", part.Last, " ", part.Days))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.missing) {
			t.Errorf("%s: %q, want %q", c.what, got, c.missing)
		}
	}
}
