package query

import (
	"strings"
	"testing"

	"adlens/internal/query/period"
)

func TestFilesSayTheirCurrencyAndFilters(t *testing.T) {
	days := period.Period{Start: day("2026-03-01"), End: day("2026-03-10")}
	for want, r := range map[string]interface{ About() []string }{
		"2026-03-01 2026-03-10":                                       Request{Period: days, Currency: usDollars},
		"marketplace 2026-03-01 2026-03-10 local":                     Request{Period: days, Dimensions: []string{dimMarketplace}, Local: true, Mixed: true},
		"2026-03-01 2026-03-10 local EUR filtered":                    Request{Period: days, Local: true, Currency: "EUR", Filters: Filters{Marketplaces: []string{"DE"}}},
		"2026-03-01 2026-03-10 week local EUR previous_year filtered": Request{Period: days, Granularity: ByWeek, Earlier: period.Period{Range: period.PreviousYear}, Local: true, Currency: "EUR", Search: "mug"},
		"2026-03-01 2026-06-10 day":                                   Request{Period: period.Period{Start: day("2026-03-01"), End: day("2026-06-10")}, Granularity: ByDay},
		"date 2026-03-01 2026-03-10":                                  Request{Period: days, Dimensions: []string{dimDate}, Granularity: ByDay},
		"101":                                                         ListRequest{Marketplace: Marketplace{ID: "101"}},
		"101 filtered page 2":                                         ListRequest{Marketplace: Marketplace{ID: "101"}, CampaignID: "7", Paging: Paging{Page: 2}},
		"filtered":                                                    ListRequest{Tools: []string{"rule"}},
	} {
		if got := strings.Join(r.About(), " "); got != want {
			t.Errorf("a request is about %q, want %q", got, want)
		}
	}
}
