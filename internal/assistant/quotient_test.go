package assistant

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json/jsontext"
)

func TestQuotientsFollowFromTheSumsThatAreShown(t *testing.T) {
	names := []string{"spend/purchases", "new_to_brand_purchases%purchases"}
	r := reportOf(t, names, `{"comparison":{"period":{},"history_covered":true},
		"totals":{"spend":25.00,"purchases":4,"new_to_brand_purchases":3,"comparison":{"spend":9.00,"purchases":2,"new_to_brand_purchases":1,"change":{"spend":177.78,"purchases":100.00,"new_to_brand_purchases":200.00}}},
		"data":[{"campaign_id":"1","spend":10.00,"purchases":3,"new_to_brand_purchases":1,"comparison":{"spend":9.00,"purchases":0,"new_to_brand_purchases":0,"change":{"spend":11.11,"purchases":null,"new_to_brand_purchases":null}}}],
		"pagination":{"total_rows":2},"meta":{}}`)
	got := r.tableOf(names, "")
	if want := "[campaign_id spend/purchases spend/purchases_before spend/purchases_change_absolute" +
		" new_to_brand_purchases%purchases new_to_brand_purchases%purchases_before new_to_brand_purchases%purchases_change_points]"; fmt.Sprint(got.Columns) != want {
		t.Errorf("the columns are %s, want %s", got.Columns, want)
	}
	want := `[["1" 3.33 null null 33.33 null null]] [null 15.00 0.00 15.00 200.00 50.00 150.00] [null 6.25 4.50 1.75 75.00 50.00 25.00]`
	if lines := fmt.Sprintf("%s %s %s", got.Rows, got.Others, got.Total); lines != want {
		t.Errorf("got %s, want %s", lines, want)
	}
}

func TestQuotientsAreOfTwoSums(t *testing.T) {
	for text, want := range map[string]catalogue.Unit{"spend/purchases": catalogue.Ratio, "sales_14d%sales": catalogue.Percent, "clicks/clicks": catalogue.Ratio, "spend/clicks": catalogue.USD,
		"": "", "spend": "", "/": "", "spend/": "", "%sales": "", "acos/spend": "", "spend/roas": "", "spend/sales/clicks": "", "spend/sales%clicks": "", "spend / sales": ""} {
		if f, is := readQuotient(text); f.Unit != want && is || is != (want != "") {
			t.Errorf("%q: %v, %v", text, f, is)
		}
	}
}

// A quotient that is a figure of the API has one value: the figure's, which is computed
// from exact sums.
func TestAQuotientThatIsAFigureIsTheFigure(t *testing.T) {
	sent := []string{"spend/sales", " Sales%Spend", "clicks/impressions", "purchases/clicks", "spend%clicks"}
	want := []string{"spend/sales", "sales%spend", "clicks/impressions", "purchases/clicks", "spend%clicks"}
	for _, f := range catalogue.ReportFigures {
		if f.IsRatio() {
			sign := "/"
			if f.Unit == catalogue.Percent {
				sign = "%"
			}
			sent, want = append(sent, strings.ToUpper(catalogue.Measures[f.Numerator].Name+sign+catalogue.Measures[f.Denominator].Name), f.Name), append(want, f.Name)
		}
	}
	text, _ := json.Marshal(map[string]any{"figures": sent, "by": "spend%sales"})
	args, err := tools[3].readArguments(text)
	if err != nil || fmt.Sprint(args["figures"]) != fmt.Sprint(want) || args["by"][0] != "acos" {
		t.Errorf("%v, %v; want %v", args, err, want)
	}
	for _, f := range withParts(args["figures"]) {
		if isQuotient(f) != strings.ContainsAny(f.Name, "/%") {
			t.Errorf("%s is computed from sums as they are shown: %v", f.Name, isQuotient(f))
		}
	}
}

// A change is that of the ratios, not of what they are rounded to: 2/3 - 1/3 is 0.3333.
func TestAChangeIsOfRatiosThatAreNotRounded(t *testing.T) {
	names := []string{"spend/purchases", "purchases/spend", "purchases%impressions", "acos"}
	side := func(spend, purchases, impressions, acos string) string {
		return fmt.Sprintf(`"spend":%s,"sales":3.00,"purchases":%s,"impressions":%s,"acos":%s`, spend, purchases, impressions, acos)
	}
	r := reportOf(t, names, fmt.Sprintf(`{"comparison":{"period":{},"history_covered":true},
		"totals":{%s,"comparison":{%s,"change":{}}},"data":[{"campaign_id":"1",%s,"comparison":{%s,"change":{"acos":33.33}}}],"pagination":{"total_rows":2},"meta":{}}`,
		strings.ReplaceAll(side("4.00", "6", "6", "66.67"), "3.00", "6.00"), strings.ReplaceAll(side("2.00", "4", "12", "33.33"), "3.00", "6.00"),
		side("2.00", "3", "3", "66.67"), side("1.00", "3", "9", "33.33")))
	got := r.tableOf(names, "")
	if want := `[["1" 0.6667 0.3333 0.3333 1.50 3.00 -1.50 100.00 33.33 66.67 66.67 33.33 33.33]]`; fmt.Sprintf("%s", got.Rows) != want {
		t.Errorf("the rows are %s, want %s", got.Rows, want)
	}
	if want := `[null 0.6667 1.00 -0.3333 1.50 1.00 0.5000 100.00 33.33 66.67 66.67 33.33 33.33]`; fmt.Sprintf("%s", got.Others) != want {
		t.Errorf("the others are %s, want %s", got.Others, want)
	}
}

// What only some of the ad products report is not divided by what others report too: 3 of
// 6 orders of Sponsored Brands that were new to the brand are no 8 % of all.
func TestAQuotientIsOfWhatTheSameAdProductsReport(t *testing.T) {
	const brands, products, display = "SPONSORED_BRANDS", "SPONSORED_PRODUCTS", "SPONSORED_DISPLAY"
	const bothOfTwo = "only reports of SPONSORED_BRANDS, SPONSORED_DISPLAY have both "
	for _, c := range []struct {
		quotient   string
		adProducts []string
		want       string // "" where it is taken
	}{
		{"new_to_brand_purchases%purchases", nil, `figures has "new_to_brand_purchases%purchases", but ` + bothOfTwo + "new_to_brand_purchases and purchases; send no others as ad_products"},
		{"purchases/new_to_brand_purchases", nil, bothOfTwo + "purchases and new_to_brand_purchases"},
		{"new_to_brand_purchases%purchases", []string{brands, products}, bothOfTwo},
		{"new_to_brand_purchases%purchases", []string{products}, bothOfTwo},
		{"new_to_brand_purchases%purchases", []string{brands}, ""},
		{"new_to_brand_purchases%purchases", []string{brands, display}, ""},
		{"sales_7d%sales", nil, "only reports of SPONSORED_PRODUCTS have both sales_7d and sales"},
		{"sales_7d%sales", []string{products}, ""},
		{"sales_other_sku_7d%sales_7d", nil, ""}, // neither is in other reports
		{"spend/purchases", nil, ""},
		{"add_to_list%clicks", nil, ""},
		{"viewable_impressions%impressions_views", nil, "no ad product's reports have both viewable_impressions and impressions_views"},
	} {
		refused := call{args: arguments{"ad_products": c.adProducts}}.checkQuotients(withParts([]string{"acos", c.quotient}))
		if c.want == "" && refused != nil || c.want != "" && (refused == nil || !strings.Contains(refused.Error(), c.want)) {
			t.Errorf("%s of %s: %v, want %q", c.quotient, c.adProducts, refused, c.want)
		}
	}
}

// What some reports lack is not divided by what all have, on any line that may have
// figures of both: 5 of 10 orders of one report were new to the brand, and 10 orders of
// another, which does not say, make it no 25 %.
func TestAQuotientIsOfTheSameReports(t *testing.T) {
	const brands, products, display = "SPONSORED_BRANDS", "SPONSORED_PRODUCTS", "SPONSORED_DISPLAY"
	const newToBrand, newSales, otherSales = "new_to_brand_purchases%purchases", "new_to_brand_sales/new_to_brand_purchases", "sales_other_sku_7d%sales_7d"
	const campaign, us, ca = `"campaign_id":"7"`, `"marketplace":"US","marketplace_id":"1","ad_product":"SPONSORED_BRANDS"`, `"marketplace":"CA","marketplace_id":"2","ad_product":"SPONSORED_BRANDS"`
	const numerator, both, neither = `"new_to_brand_purchases"`, `"new_to_brand_purchases","new_to_brand_sales"`, `"sales_7d","sales_other_sku_7d"`
	line := func(purchases, newPurchases int) string {
		side := fmt.Sprintf(`"purchases":%d,"new_to_brand_purchases":%d,"new_to_brand_sales":%d.00,"sales_7d":%d.00,"sales_other_sku_7d":%d.00`, purchases, newPurchases, newPurchases, purchases, newPurchases)
		return side + `,"comparison":{` + side + `,"change":{}}`
	}
	const null, shares = "[null null null]", "[50.00 50.00 0.00]"
	for _, c := range []struct{ name, quotient, labels, adProduct, lacked, row, others, total string }{
		{"no figure of it is lacked", newToBrand, us, brands, `"add_to_list"`, shares, "[20.00 20.00 0.00]", "[35.00 35.00 0.00]"},
		{"the numerator is", newToBrand, us, brands, numerator, null, null, null},
		{"a row of a campaign", newToBrand, campaign, brands, numerator, null, null, null},
		{"a row of another marketplace", newToBrand, ca, brands, numerator, shares, null, null},
		{"a row of another ad product", newToBrand, us, display, numerator, shares, null, null},
		{"each may be lacked by other reports", newSales, us, brands, both, null, null, null},
		{"the ad product has neither", otherSales, campaign, brands, neither, shares, "[20.00 20.00 0.00]", "[35.00 35.00 0.00]"},
		{"the ad product has both", otherSales, campaign, products, neither, null, null, null},
	} {
		r := reportOf(t, []string{c.quotient}, `{"comparison":{"period":{},"history_covered":true},"totals":{`+line(20, 7)+`},"data":[{`+c.labels+`,`+line(10, 5)+`}],"pagination":{"total_rows":2},
			"meta":{"incomplete":[{"marketplace_id":"1","ad_product":"`+c.adProduct+`","reason":"measure_not_reported","figures":[`+c.lacked+`]}]}}`)
		got := r.tableOf([]string{c.quotient}, "")
		of := func(line []jsontext.Value) string { return fmt.Sprintf("%s", line[len(r.dimensions):]) }
		if row, others, total := of(got.Rows[0]), of(got.Others), of(got.Total); row != c.row || others != c.others || total != c.total {
			t.Errorf("%s: the row is %s, the others %s and the total %s; want %s, %s and %s", c.name, row, others, total, c.row, c.others, c.total)
		}
	}
}

// Each quotient is computed for each row, so that a call with all of them took minutes.
func TestTheFiguresOfACallAreBounded(t *testing.T) {
	var quotients, figures, conditions []string
	for i := range 201 {
		figures = append(figures, fmt.Sprint("figure", i))
		conditions = append(conditions, fmt.Sprintf("spend>%d", i))
	}
	for _, m := range catalogue.Measures {
		quotients = append(quotients, m.Name+"/purchases")
	}
	for _, c := range []struct {
		name   string
		values any
		want   string // "" where it is taken
	}{
		{"figures", quotients[:30], ""},
		{"figures", append(quotients[:30:30], "spend/clicks", "acos", "spend%sales"), ""},
		{"figures", quotients[:31], "figures has 31 quotients, as spend/purchases is one; expected 30 at most"},
		{"figures", strings.Join(quotients[:31], ","), "figures has 31 quotients, as spend/purchases is one; expected 30 at most"},
		{"figures", figures[:200], ""},
		{"figures", append(figures[:200:200], figures[0]), ""},
		{"figures", figures, "figures has more than 200 values; expected 200 at most"},
		{"figures", strings.Join(figures, ","), "figures has more than 200 values; expected 200 at most"},
		{"where", conditions[:30], ""},
		{"where", conditions[:31], "where has more than 30 values; expected 30 at most"},
	} {
		text, _ := json.Marshal(map[string]any{c.name: c.values})
		_, err := tools[3].readArguments(text)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%.60s: %v, want %q", text, err, c.want)
		}
	}
}

// Two decimals of what an impression cost are none.
func TestAQuotientBelowOneHasFourDigits(t *testing.T) {
	names := []string{"spend/impressions", "spend%impressions"}
	side := func(spend string, impressions int) string {
		return fmt.Sprintf(`"spend":%s,"impressions":%d`, spend, impressions)
	}
	r := reportOf(t, names, fmt.Sprintf(`{"comparison":{"period":{},"history_covered":true},
		"totals":{%s,"comparison":{%s,"change":{}}},"data":[{"campaign_id":"1",%s,"comparison":{%s,"change":{}}}],"pagination":{"total_rows":2},"meta":{}}`,
		side("30.00", 12_789), side("20.00", 8_526), side("12.34", 5_000), side("0.00", 5_000)))
	got := r.tableOf(names, "")
	want := `[["1" 0.002468 0.00 0.002468 0.25 0.00 0.25]] [null 0.002267 0.005672 -0.003405 0.23 0.57 -0.34] [null 0.002346 0.002346 0.00 0.23 0.23 0.00]`
	if lines := fmt.Sprintf("%s %s %s", got.Rows, got.Others, got.Total); lines != want {
		t.Errorf("got %s, want %s", lines, want)
	}
	quotient, _ := readQuotient("spend/impressions")
	for _, c := range []struct {
		n, d int64
		want string
	}{
		{0, 1, "0.00"}, {1, 1, "1.00"}, {-3, 2, "-1.50"}, {5, 4, "1.25"}, {1, 3, "0.3333"}, {-2, 3, "-0.6667"}, {1, 10, "0.1000"}, {1, 11, "0.09091"}, {99_999, 100_000, "1.0000"},
		{1, 1_000_000_000_000_000_000, "0.000000000000000001000"},
	} {
		if got := string(ratioValue(quotient, big.NewRat(c.n, c.d))); got != c.want {
			t.Errorf("%d by %d is %s, want %s", c.n, c.d, got, c.want)
		}
	}
	acos := catalogue.Figures[2]
	if got := string(ratioValue(acos, big.NewRat(1, 3))); got != "0.33" {
		t.Errorf("%s is %s, want as the API has it", acos.Name, got)
	}
}
