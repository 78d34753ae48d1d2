package query

import (
	"testing"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query/period"

	"github.com/google/go-cmp/cmp"
)

// The US reports of Sponsored Brands cover 2024-10-01 to 2026-11-19, those of the
// first UK marketplace January and June 2025.
func TestCampaignsThatReportsLeaveOutAreNamedWhereTheyMayHaveRun(t *testing.T) {
	on := func(text string) *adlens.Day { d := day(text); return &d }
	v := exampleView()
	v.Legacy = []LegacyCampaign{
		{usKey, "1", "always", nil, nil, nil},
		{usKey, "2", "in March", on("2025-03-01"), on("2025-03-31"), nil},
		{uk1Key, "3", "since May", on("2025-05-20"), nil, nil},
		{uk2Key, "4", "of a marketplace without reports", nil, nil, nil},
		{uk2Key, "6", "of a legacy report", nil, nil, []adlens.Day{day("2025-07-07"), day("2025-11-30")}},
	}
	for what, c := range map[string]struct {
		from, to string
		filters  Filters
		earlier  [2]string
		search   string
		in       []string
		want     map[string][]string // by marketplace
	}{
		"all days":             {from: "2020-01-01", to: "2026-11-20", want: map[string][]string{"1001": {"1", "2"}, "2001": {"3"}, "2002": {"6"}}},
		"March":                {from: "2025-03-31", to: "2025-03-31", want: map[string][]string{"1001": {"1", "2"}}},
		"April":                {from: "2025-04-01", to: "2025-04-30", want: map[string][]string{"1001": {"1"}}},
		"a gap of UK's":        {from: "2025-07-01", to: "2025-07-31", want: map[string][]string{"1001": {"1"}, "2002": {"6"}}},
		"next to the days":     {from: "2025-07-08", to: "2025-11-29", want: map[string][]string{"1001": {"1"}}},
		"compared with a day":  {from: "2025-12-01", to: "2025-12-31", earlier: [2]string{"2025-10-31", "2025-11-30"}, want: map[string][]string{"1001": {"1"}, "2002": {"6"}}},
		"before a campaign":    {from: "2025-01-01", to: "2025-01-31", want: map[string][]string{"1001": {"1"}}},
		"after what is held":   {from: "2026-11-20", to: "2026-12-20", want: map[string][]string{}},
		"compared with March":  {from: "2026-01-01", to: "2026-01-31", earlier: [2]string{"2025-03-10", "2025-04-10"}, want: map[string][]string{"1001": {"1", "2"}}},
		"a marketplace":        {from: "2025-06-01", to: "2025-06-30", filters: Filters{Marketplaces: []string{"UK"}}, want: map[string][]string{"2001": {"3"}}},
		"other ad products":    {from: "2025-06-01", to: "2025-06-30", filters: Filters{AdProducts: []adlens.AdProduct{adlens.SponsoredProducts}}, want: map[string][]string{}},
		"one of the campaigns": {from: "2025-03-01", to: "2025-03-30", filters: Filters{Campaigns: []string{"2", "5"}}, want: map[string][]string{"1001": {"2"}}},
		"another campaign":     {from: "2025-03-01", to: "2025-03-30", filters: Filters{Campaigns: []string{"5"}}, want: map[string][]string{}},
		"products":             {from: "2025-03-01", to: "2025-03-30", filters: Filters{Products: []string{"B0"}}, want: map[string][]string{}},
		"a search":             {from: "2025-03-01", to: "2025-03-30", search: "IN mar", in: []string{dimProduct, dimCampaign}, want: map[string][]string{"1001": {"2"}}},
		"a search of products": {from: "2025-03-01", to: "2025-03-30", search: "march", in: []string{dimProduct}, want: map[string][]string{}},
		"ad groups":            {from: "2025-03-01", to: "2025-03-30", filters: Filters{AdGroups: []string{"7"}}, want: map[string][]string{}},
	} {
		r := Request{Period: period.Period{Start: day(c.from), End: day(c.to)}, Filters: c.filters, Search: c.search, SearchedIn: c.in}
		if c.earlier[0] != "" {
			r.Earlier = period.Period{Start: day(c.earlier[0]), End: day(c.earlier[1]), Range: period.PreviousPeriod}
		}
		got := map[string][]string{}
		for _, part := range newAnswer(r, v).Meta.Incomplete {
			if part.Reason != LegacyBrands || part.AdProduct != adlens.SponsoredBrands || part.Figures != nil {
				t.Errorf("%s: %+v", what, part)
			}
			for _, campaign := range part.Campaigns {
				got[part.Marketplace.ID] = append(got[part.Marketplace.ID], campaign.ID)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if parts := v.MetaAtAll().Incomplete; len(parts) != 3 || len(parts[2].Campaigns) != 2 {
		t.Errorf("of all days: %+v", parts)
	}
	if parts := exampleView().MetaAtAll().Incomplete; parts != nil {
		t.Errorf("without such campaigns: %+v", parts)
	}
}

// Days for which a legacy report was loaded lack nothing; of other days the same
// campaigns are still named.
func TestLegacyReportsMakeTheirDaysComplete(t *testing.T) {
	v := exampleView()
	v.Legacy = []LegacyCampaign{{usKey, "1", "always", nil, nil, nil}}
	march := manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: usKey, AdProduct: manifest.LegacyCounted}, Start: day("2025-03-01")},
		Generation: 7, Sources: []manifest.Source{{ReportID: "o", Days: manifest.DaysBetween(day("2025-03-05"), day("2025-03-20"))}}}
	reported := march
	reported.Slice.AdProduct = manifest.LegacyReported
	v.Manifest = v.Manifest.With(v.Manifest.Version+1, march, reported)
	for _, c := range []struct {
		from, to string
		isWhole  bool
	}{{"2025-03-05", "2025-03-20", true}, {"2025-03-04", "2025-03-20", false}, {"2025-03-20", "2025-03-21", false}, {"2025-03-10", "2025-03-10", true}, {"2025-04-05", "2025-04-06", false}} {
		if parts := newAnswer(Request{Period: days(c.from, c.to)}, v).Meta.Incomplete; (parts == nil) != c.isWhole {
			t.Errorf("%s to %s: %+v", c.from, c.to, parts)
		}
	}
	plan := PlanDays(Request{Period: days("2025-03-10", "2025-03-10")}, v)
	counted := 0
	for _, l := range plan.Days {
		if !l.Slice.IsAnswered() {
			t.Errorf("%s is answered", l.Unit)
		}
		if l.Slice.AdProduct == manifest.LegacyCounted {
			counted++
		}
	}
	if counted != 1 {
		t.Errorf("%d months of legacy reports are in the plan, want 1", counted)
	}
	if all := PlanDays(Request{Period: days("2025-03-10", "2025-03-10"), Filters: Filters{AdProducts: []adlens.AdProduct{adlens.SponsoredProducts}}}, v); len(all.Days) != 2 {
		t.Errorf("figures of Sponsored Products are read from %v", all.Days)
	}
}
