package figures_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adlens/integration/house"
)

// figuresAnswer is what these tests read of an answer.
type figuresAnswer struct {
	Currency *string
	Totals   map[string]json.Number
	Data     []map[string]any
	Meta     struct {
		Incomplete []struct {
			Marketplace string
			AdProduct   string `json:"ad_product"`
			Reason      string
			Figures     []string
		}
	}
}

func reportOf(t *testing.T, one *house.Tenant, query string) (a figuresAnswer) {
	t.Helper()
	answer := house.Get(t, one.Ask, "/api/v1/report?range=all_time&"+query)
	if answer.Status != 200 {
		t.Fatal(answer)
	}
	house.Need(t, json.Unmarshal(answer.Body, &a))
	return a
}

// Amounts have more decimals than a figure shows, and what is below the sixth one
// decides where it is rounded: cut to six, these would be 0.004999.
func TestLocalAmountsAreExactBelowTheSixthDecimal(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	pair := house.SpPair("tiny", "102", house.DaysAgo(50), 2, time.Now())
	pair.Rows[0]["cost"], pair.Rows[1]["cost"] = house.Exact("0.00249999990000000001"), house.Exact("0.00250000009999999999")
	pair.Rows[0]["sales7d"], pair.Rows[1]["sales7d"] = house.Exact("0.00249999990000000001"), house.Exact("0.00250000009999999998")
	pair.Rows[0]["sales14d"], pair.Rows[1]["sales14d"] = pair.Rows[0]["sales7d"], pair.Rows[1]["sales7d"]
	pair.Write(t, dir)
	house.Need(t, os.WriteFile(filepath.Join(dir, "rates.csv"), []byte("date,currency,usd\n"+house.DaysAgo(51)+",GBP,1.3\n"), 0o600))
	house.Load(t, h.Program, one, dir)
	for _, query := range []string{"figures=spend,sales,roas", "dimensions=product", "dimensions=campaign", "dimensions=date,ad_group"} {
		got := reportOf(t, one, query+"&marketplaces=UK&currency=local")
		if got.Currency == nil || *got.Currency != "GBP" || got.Totals["spend"] != "0.01" || got.Totals["sales"] != "0.00" || got.Totals["roas"] != "1.00" {
			t.Errorf("%s: %v %v", query, got.Currency, got.Totals)
		}
	}
}

// A measure that a report lacks is null, that of another day its own, and both are
// said to be incomplete.
func TestMeasuresThatWereNotReportedAreNull(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	pair := house.SpPair("wide", "101", house.DaysAgo(60), 2, time.Now())
	pair.Configuration()["columns"] = append(pair.Configuration()["columns"].([]any), "unitsSoldClicks7d")
	pair.Rows[0]["unitsSoldClicks7d"], pair.Rows[1]["unitsSoldClicks7d"] = 0, 3
	pair.Write(t, dir)
	house.Load(t, h.Program, one, dir)
	got := reportOf(t, one, "dimensions=date&figures=units_sold_clicks_7d,clicks&marketplaces=US")
	if got.Totals["units_sold_clicks_7d"] != "3" {
		t.Errorf("in all %v", got.Totals)
	}
	for _, row := range got.Data {
		want := map[string]any{house.DaysAgo(60): 0.0, house.DaysAgo(59): 3.0}[row["date"].(string)]
		if row["units_sold_clicks_7d"] != want {
			t.Errorf("%v, want %v", row, want)
		}
	}
	if lacking := got.Meta.Incomplete; len(lacking) != 1 || lacking[0].Marketplace != "US" || lacking[0].AdProduct != "SPONSORED_PRODUCTS" || lacking[0].Reason != "measure_not_reported" {
		t.Errorf("incomplete: %+v", lacking)
	}
	some := reportOf(t, one, "dimensions=date&figures=units_sold_clicks_7d&marketplaces=US&sort=units_sold_clicks_7d&order=asc")
	if first, last := some.Data[0]["units_sold_clicks_7d"], some.Data[len(some.Data)-1]["units_sold_clicks_7d"]; first != 0.0 || last != nil {
		t.Errorf("null is not last: %v to %v", first, last)
	}
}
