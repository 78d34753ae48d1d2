package assistant_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
)

// An ad product whose reports end before the others' is named, and a marketplace that has
// none: what follows is not held.
func TestAnAdProductThatEndsEarlierIsNamed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t) // Sponsored Products, until ten days ago
	brands := house.SpPair("brands", "101", house.DaysAgo(40), 21, time.Now().Add(-time.Hour))
	c := brands.Configuration()
	c["adProduct"], c["reportTypeId"], c["groupBy"] = "SPONSORED_BRANDS", "sbCampaigns", []any{"campaign"}
	c["columns"] = []any{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales"}
	for i := range brands.Rows {
		brands.Rows[i] = map[string]any{"date": brands.Rows[i]["date"], "campaignId": json.Number("71"), "impressions": 10, "clicks": 1, "cost": json.Number("1.5"), "purchases": 0, "sales": 0}
	}
	dir := t.TempDir()
	brands.Write(t, dir)
	house.Load(t, h.Program, one, dir)
	s := openSession(t, h.Program, one.Files.ID)
	want := fmt.Sprintf("[[UK 102 <nil> <nil>] [US 101 SPONSORED_BRANDS %s]]", house.DaysAgo(20))
	for _, arguments := range []map[string]any{{"range": "last_30_days"}, {"range": "last_30_days", "ad_products": []string{"sponsored_brands"}}} {
		if got := fmt.Sprint(s.mustCall(t, "figures", arguments)["behind"]); got != want {
			t.Errorf("%v: behind is %s, expected %s", arguments, got, want)
		}
	}
	for _, arguments := range []map[string]any{{"range": "last_30_days", "marketplaces": []string{"us"}, "ad_products": []string{"SPONSORED_PRODUCTS"}},
		{"marketplaces": []string{"101"}, "start_date": house.DaysAgo(40), "end_date": house.DaysAgo(25)}} {
		if got := s.mustCall(t, "figures", arguments)["behind"]; got != nil {
			t.Errorf("%v: behind is %v, expected nothing", arguments, got)
		}
	}
	fall := map[string]any{"start_date": house.DaysAgo(15), "end_date": house.DaysAgo(10)}
	if why := fmt.Sprint(s.mustCall(t, "explain_change", fall)["why_not_divided"]); !strings.HasPrefix(why, "days of US (101) SPONSORED_BRANDS after "+house.DaysAgo(20)+" are not held") {
		t.Errorf("explain_change %v: %s", fall, why)
	}
	fall["ad_products"] = []string{"SPONSORED_PRODUCTS"}
	if why := s.mustCall(t, "explain_change", fall)["why_not_divided"]; why != nil {
		t.Errorf("explain_change %v: %s", fall, why)
	}
}
