package query

import (
	"strings"
	"testing"

	"adlens/internal/query/period"
)

func TestFilesSayTheirCurrencyAndFilters(t *testing.T) {
	days := period.Period{Start: day("2026-03-01"), End: day("2026-03-10")}
	for want, r := range map[string]interface{ About() []string }{
		"2026-03-01 2026-03-10":                    Request{Period: days, Currency: usDollars},
		"marketplace 2026-03-01 2026-03-10 local":  Request{Period: days, Dimensions: []string{dimMarketplace}, Local: true, Mixed: true},
		"2026-03-01 2026-03-10 local EUR filtered": Request{Period: days, Local: true, Currency: "EUR", Filters: Filters{Marketplaces: []string{"DE"}}},
		"101":                 ListRequest{Marketplace: Marketplace{ID: "101"}},
		"101 filtered page 2": ListRequest{Marketplace: Marketplace{ID: "101"}, CampaignID: "7", Paging: Paging{Page: 2}},
		"filtered":            ListRequest{Tools: []string{"rule"}},
	} {
		if got := strings.Join(r.About(), " "); got != want {
			t.Errorf("a request is about %q, want %q", got, want)
		}
	}
}
