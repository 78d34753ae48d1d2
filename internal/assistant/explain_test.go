package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// branches is a warehouse in the United States and in Germany.
type branches struct {
	warehouse
	held []branch
}

// branch is an ad product of a marketplace that is held from a day of March on up to another.
type branch struct {
	marketplace uint16
	product     adlens.AdProduct
	first, last int
}

func (b branches) View(_ context.Context, account string) (query.View, error) {
	var entries []manifest.Entry
	for _, one := range b.held {
		month := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: one.marketplace, AdProduct: one.product}, Start: adlens.Date(2026, 3, 1)}
		var days manifest.Days
		for day := one.first; day <= one.last; day++ {
			days |= 1 << (day - 1)
		}
		if i := slices.IndexFunc(entries, func(e manifest.Entry) bool { return e.Unit == month }); i >= 0 {
			entries[i].Sources = append(entries[i].Sources, manifest.Source{Days: days})
			continue
		}
		year := manifest.Unit{Kind: manifest.Year, Slice: month.Slice, Start: adlens.Date(2026, 1, 1)}
		entries = append(entries, manifest.Entry{Unit: month, Generation: 5, Sources: []manifest.Source{{Days: days}}}, manifest.Entry{Unit: year, Generation: 5, Derived: []uint64{1}})
	}
	return query.View{Account: account, Manifest: manifest.New(7, entries...),
		Marketplaces: []query.Marketplace{{Key: 1, ID: "101", Country: "US", Currency: "USD"}, {Key: 2, ID: "102", Country: "DE", Currency: "EUR"}}}, nil
}

// explainedChange is the result of explain_change at the tenth of March.
func explainedChange(t *testing.T, store query.Store, arguments map[string]any) map[string]any {
	t.Helper()
	session := connectTo(t, store, func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) })
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "explain_change", Arguments: arguments})
	if err != nil || got.IsError {
		t.Fatalf("%v: %+v, %v", arguments, got, err)
	}
	return got.StructuredContent.(map[string]any)
}

// Days that are not held of a marketplace, or of an ad product, are no fall to explain. One
// that is days behind is left out, and moves no period into the past.
func TestDaysThatAMarketplaceIsBehindAreNotExplained(t *testing.T) {
	const sp, sb = adlens.SponsoredProducts, adlens.SponsoredBrands
	upTo := func(end string) string {
		return "send start_date and an end_date up to " + end + ", or choose others by marketplaces or ad_products"
	}
	const later = "send start_date and end_date of a period whose earlier one begins then or later, or choose others by marketplaces or ad_products"
	const others, otherProducts = "send the others as marketplaces", "send the others as marketplaces or ad_products"
	yesterday := map[string]any{"range": "yesterday"}
	dates := func(start, end string, more ...string) map[string]any {
		sent := map[string]any{"start_date": start, "end_date": end}
		for i := 0; i < len(more); i += 2 {
			sent[more[i]] = more[i+1]
		}
		return sent
	}
	threeDays := dates("2026-03-07", "2026-03-09")
	for _, c := range []struct {
		name         string
		held         []branch
		arguments    map[string]any
		days, advice string // days that are not held; "" where the change is divided
	}{
		{"a marketplace", []branch{{1, sp, 1, 8}, {2, sp, 1, 9}}, yesterday, "US (101) after 2026-03-08", upTo("2026-03-08")},
		{"the others", []branch{{1, sp, 1, 8}, {2, sp, 1, 9}}, map[string]any{"range": "yesterday", "marketplaces": "DE"}, "", ""},
		{"days that are held", []branch{{1, sp, 1, 8}, {2, sp, 1, 9}}, dates("2026-03-08", "2026-03-08"), "", ""},
		{"an ad product", []branch{{1, sp, 1, 9}, {1, sb, 1, 8}}, yesterday, "US (101) SPONSORED_BRANDS after 2026-03-08", upTo("2026-03-08")},
		{"an ad product that has ended", []branch{{1, sp, 1, 9}, {1, sb, 1, 6}}, threeDays, "US (101) SPONSORED_BRANDS after 2026-03-06", otherProducts},
		{"several", []branch{{1, sp, 1, 6}, {1, sb, 1, 4}, {2, sp, 1, 9}, {2, sb, 1, 5}}, threeDays,
			"US (101) after 2026-03-06, DE (102) SPONSORED_BRANDS after 2026-03-05", otherProducts},
		{"it ended on the earlier period's first day", []branch{{1, sp, 1, 4}, {2, sp, 1, 9}}, threeDays, "US (101) after 2026-03-04", others},
		{"it ended before both periods", []branch{{1, sp, 1, 3}, {2, sp, 1, 9}}, threeDays, "", ""},
		{"two days behind", []branch{{1, sp, 1, 7}, {2, sp, 1, 9}}, threeDays, "US (101) after 2026-03-07", upTo("2026-03-07")},
		{"three days behind", []branch{{1, sp, 1, 6}, {2, sp, 1, 9}}, threeDays, "US (101) after 2026-03-06", others},
		{"days of an earlier period are missing too", []branch{{1, sp, 1, 7}, {2, sp, 1, 8}, {2, sb, 1, 9}}, yesterday, "DE (102) SPONSORED_PRODUCTS after 2026-03-08", upTo("2026-03-07")},
		{"one has ended, one is behind", []branch{{1, sp, 1, 3}, {2, sp, 1, 8}, {2, sb, 1, 9}}, threeDays,
			"US (101) after 2026-03-03", others + "; also, days of DE (102) SPONSORED_PRODUCTS after 2026-03-08 are not held, and are no fall; " + upTo("2026-03-08")},
		{"a day of one of its ad products", []branch{{1, sp, 1, 8}, {1, sb, 1, 7}, {2, sp, 1, 9}}, threeDays, "US (101) after 2026-03-08", upTo("2026-03-07")},
		{"another ad product than the call's", []branch{{1, sp, 1, 8}, {2, sp, 1, 9}, {2, sb, 1, 9}}, map[string]any{"range": "yesterday", "ad_products": "sponsored_brands"}, "", ""},
		{"the call's ad product alone", []branch{{1, sp, 1, 8}, {1, sb, 1, 7}, {2, sp, 1, 9}, {2, sb, 1, 9}}, dates("2026-03-07", "2026-03-09", "ad_products", "SPONSORED_BRANDS"),
			"US (101) after 2026-03-07", upTo("2026-03-07")},
		{"all of the call's", []branch{{1, sp, 1, 5}, {2, sp, 1, 9}}, dates("2026-03-06", "2026-03-09", "marketplaces", "US"), "US (101) after 2026-03-05", upTo("2026-03-05")},
		{"nothing of it is held", []branch{{2, sp, 1, 9}}, yesterday, "", ""},
		{"days before the history", []branch{{1, sp, 3, 8}, {2, sp, 3, 9}}, dates("2026-03-05", "2026-03-09"), "the earlier period, before 2026-03-03,",
			"send start_date and end_date of a period whose earlier one begins on that day or later"},
		{"an ad product begins later", []branch{{1, sp, 1, 9}, {1, sb, 7, 9}}, threeDays, "US (101) SPONSORED_BRANDS before 2026-03-07", later},
		{"a marketplace begins later", []branch{{1, sp, 1, 9}, {2, sp, 5, 9}}, threeDays, "DE (102) SPONSORED_PRODUCTS before 2026-03-05", later},
		{"it begins on the earlier period's first day", []branch{{1, sp, 1, 9}, {2, sp, 4, 9}}, threeDays, "", ""},
		{"another one of the call begins later", []branch{{1, sp, 1, 9}, {2, sp, 5, 9}}, dates("2026-03-07", "2026-03-09", "marketplaces", "US"), "", ""},
	} {
		result := explainedChange(t, branches{held: c.held}, c.arguments)
		why, _ := result["why_not_divided"].(string)
		want := "days of " + c.days + " are not held"
		switch {
		case c.advice == later:
			want += ", and are no rise; " + later
		case strings.HasPrefix(c.days, "the earlier period"):
			want += "; " + c.advice
		case c.advice != "":
			want += ", and are no fall; " + c.advice
		}
		if c.days == "" {
			if why != "" || len(result["by"].(map[string]any)) != 4 {
				t.Errorf("%s: the change is not divided: %v", c.name, result)
			}
		} else if why != want || len(result["by"].(map[string]any)) != 0 {
			t.Errorf("%s: %q, want %q; %v", c.name, why, want, result["by"])
		}
	}
	ofBrands := explainedChange(t, branches{held: []branch{{1, sp, 1, 8}, {1, sb, 1, 7}, {2, sp, 1, 9}}}, map[string]any{"range": "yesterday", "ad_products": "SPONSORED_BRANDS"})
	if got := fmt.Sprint(ofBrands["behind"]); got != "[[US 101 SPONSORED_BRANDS 2026-03-07]]" {
		t.Errorf("of one ad product behind is %s", got)
	}
	result := explainedChange(t, branches{held: []branch{{1, sp, 1, 7}, {2, sp, 1, 8}}}, yesterday)
	if why := fmt.Sprint(result["why_not_divided"]); !strings.HasPrefix(why, "days of the period from 2026-03-09 on are not held") {
		t.Errorf("nothing of the period is held: %s", why)
	}
}

// A prompt asks of days that are held of all marketplaces that go on: one that ended long
// ago would move its week into the past.
func TestPromptsAskOfDaysThatAreHeldEverywhere(t *testing.T) {
	const sp, sb = adlens.SponsoredProducts, adlens.SponsoredBrands
	for _, c := range []struct {
		held []branch
		want string
	}{
		{[]branch{{1, sp, 1, 9}, {2, sp, 1, 9}}, "from 2026-03-03 to 2026-03-09,"},
		{[]branch{{1, sp, 1, 8}, {2, sp, 1, 9}}, "from 2026-03-02 to 2026-03-08,"},
		{[]branch{{1, sp, 1, 9}, {2, sp, 1, 9}, {2, sb, 1, 7}}, "from 2026-03-01 to 2026-03-07,"},
		{[]branch{{1, sp, 1, 8}, {2, sp, 1, 6}}, "from 2026-02-28 to 2026-03-06,"},
		{[]branch{{1, sp, 1, 9}, {2, sp, 1, 6}}, "from 2026-03-03 to 2026-03-09,"},
		{nil, "from 2026-03-03 to 2026-03-09,"},
	} {
		session := connectTo(t, branches{held: c.held}, func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) })
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "weekly_review"})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Messages[0].Content.(*mcp.TextContent).Text; !strings.Contains(text, c.want) || !strings.Contains(text, leaveBehind) {
			t.Errorf("%v: %.200s; want %s", c.held, text, c.want)
		}
	}
}

// A click that became dearer by a tenth of a cent did so in some part. The API's change is of
// sums with more digits: what is divided rounds to it.
func TestAChangeOfLessThanACentHasContributions(t *testing.T) {
	for _, c := range []struct{ now, before, ofAPI, want string }{
		{"10.02", "10.00", "0.00", `0.00 0.20 0.0010 [["US" 0.50 0.50 0.0010 100.00]]`},
		{"10.02", "10.00", "0.01", `0.01 0.20 0.0050 [["US" 0.50 0.50 0.0050 100.00]]`},
		{"10.10", "10.00", "0.00", `0.00 1.00 0.0049 [["US" 0.50 0.50 0.0049 100.00]]`},
		{"10.099", "10.00", "0.00", `0.00 0.99 0.0049 [["US" 0.50 0.50 0.0049 100.00]]`}, // 0.00495
		{"10.40", "10.00", "0.01", `0.01 4.00 0.0149 [["US" 0.50 0.50 0.0149 100.00]]`},
		{"10.00", "10.10", "0.00", `0.00 -0.99 -0.0049 [["US" 0.50 0.50 -0.0049 100.00]]`},
		{"10.00", "10.08", "-0.01", `-0.01 -0.79 -0.0050 [["US" 0.50 0.50 -0.0050 100.00]]`},
		{"10.00", "10.40", "-0.01", `-0.01 -3.85 -0.0149 [["US" 0.50 0.50 -0.0149 100.00]]`},
	} {
		side := func(spend string) string { return `"average_cpc":0.50,"spend":` + spend + `,"clicks":20` }
		line := side(c.now) + `,"comparison":{` + side(c.before) + `,"change":{"average_cpc":` + c.ofAPI + `}}`
		r := reportOf(t, []string{"average_cpc"}, `{"comparison":{"period":{},"history_covered":true},"totals":{`+line+`},"data":[{"marketplace":"US",`+line+`}],"pagination":{"total_rows":1},"meta":{}}`)
		var e explanation
		e.describeTotal(&r, r.figures[0])
		change := r.dividedChange(r.figures[0])
		if got := fmt.Sprintf("%s %s %s %s", e.Now.Change, e.Now.Share, change.FloatString(4), divideChange(&r, r.figures[0], change).Rows); got != c.want {
			t.Errorf("from %s to %s the API's change is %s: got %s, want %s", c.before, c.now, c.ofAPI, got, c.want)
		}
	}
}

// Of a change that shows as nothing there are no shares, however large its parts are.
func TestAChangeOfNothingHasNoShares(t *testing.T) {
	for _, impressions := range []int{30000, 30001} {
		r := reportOf(t, []string{"ctr"}, fmt.Sprintf(`{"comparison":{"period":{},"history_covered":true},
		"totals":{"ctr":0.50,"clicks":300,"impressions":%d,"comparison":{"ctr":0.50,"clicks":300,"impressions":60000,"change":{"ctr":0.00,"clicks":0.00,"impressions":0.00}}},
		"data":[{"marketplace":"CA","ctr":0.33,"clicks":100,"impressions":%d,"comparison":{"ctr":0.50,"clicks":150,"impressions":30000,"change":{"ctr":-0.17,"clicks":-33.33,"impressions":0.00}}},
			{"marketplace":"US","ctr":0.67,"clicks":200,"impressions":30000,"comparison":{"ctr":0.50,"clicks":150,"impressions":30000,"change":{"ctr":0.17,"clicks":33.33,"impressions":0.00}}}],
		"pagination":{"total_rows":2},"meta":{}}`, 30000+impressions, impressions))
		ctr := r.figures[r.at("ctr")]
		if got := fmt.Sprint(divideChange(&r, ctr, r.dividedChange(ctr)).Rows); got != `[["CA" 0.33 0.50 -0.0833 null] ["US" 0.67 0.50 0.0833 null]]` {
			t.Errorf("of %d impressions: %s", impressions, got)
		}
	}
	r := reportOf(t, []string{"roas", "spend", "sales", "clicks", "purchases"}, `{"comparison":{"period":{},"history_covered":true},
		"totals":{"roas":2.00,"spend":50000.00,"sales":100001.00,"clicks":200,"purchases":20,"comparison":{"roas":2.00,"spend":50000.00,"sales":100000.00,"clicks":100,"purchases":10,"change":{"roas":0.00}}},
		"data":[],"pagination":{"total_rows":0},"meta":{}}`)
	roas := r.figures[r.at("roas")]
	for _, row := range divideByFactors(&r, roas, r.dividedChange(roas)).Rows {
		if share := row[len(row)-1]; !isNull(share) {
			t.Errorf("of nothing %s has %s", row[0], share)
		}
	}
}

func TestAChangeIsDividedInTheOrderOfDimensions(t *testing.T) {
	const held = adlens.SponsoredProducts
	session := connectTo(t, branches{held: []branch{{1, held, 1, 9}}}, func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) })
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "explain_change", Arguments: map[string]any{"range": "yesterday"}})
	if err != nil {
		t.Fatal(err)
	}
	text := got.Content[0].(*mcp.TextContent).Text
	at := -1
	for _, dimension := range []string{"marketplace", "ad_product", "campaign", "product"} {
		next := strings.Index(text, `"`+dimension+`":{`)
		if next <= at {
			t.Errorf("%s is at %d, after %d: %s", dimension, next, at, text)
		}
		at = next
	}
}

// Days between others, of which no report is held, are neither a fall nor a rise.
func TestHolesOfAPeriodAreNotExplained(t *testing.T) {
	const sp, sb = adlens.SponsoredProducts, adlens.SponsoredBrands
	const advice = " are not held, and are no fall and no rise; send start_date and end_date of a period without them, also in the earlier one, or choose others by marketplaces or ad_products"
	for _, c := range []struct {
		name       string
		held       []branch
		start, end string
		days       string // "" where the change is divided
	}{
		{"in the period", []branch{{1, sp, 1, 6}, {1, sp, 8, 9}}, "2026-03-07", "2026-03-09", "US (101) SPONSORED_PRODUCTS (1 from 2026-03-07 to 2026-03-07)"},
		{"in the earlier one", []branch{{1, sp, 1, 3}, {1, sp, 6, 9}, {2, sp, 1, 9}}, "2026-03-07", "2026-03-09", "US (101) SPONSORED_PRODUCTS (2 from 2026-03-04 to 2026-03-05)"},
		{"of two", []branch{{1, sb, 1, 6}, {1, sb, 8, 9}, {2, sp, 1, 7}, {2, sp, 9, 9}, {1, sp, 1, 9}}, "2026-03-07", "2026-03-09",
			"US (101) SPONSORED_BRANDS (1 from 2026-03-07 to 2026-03-07), DE (102) SPONSORED_PRODUCTS (1 from 2026-03-08 to 2026-03-08)"},
		{"and behind", []branch{{1, sp, 1, 4}, {1, sp, 6, 8}, {2, sp, 1, 9}}, "2026-03-07", "2026-03-09", "US (101) SPONSORED_PRODUCTS (2 from 2026-03-05 to 2026-03-09)"},
		{"before both", []branch{{1, sp, 1, 1}, {1, sp, 4, 9}}, "2026-03-07", "2026-03-09", ""},
	} {
		result := explainedChange(t, branches{held: c.held}, map[string]any{"start_date": c.start, "end_date": c.end})
		why, _ := result["why_not_divided"].(string)
		want := ""
		if c.days != "" {
			want = "days of " + c.days + advice
		}
		if missing, _ := result["incomplete"].([]any); len(missing) != strings.Count(c.days, " from ") {
			t.Errorf("%s: incomplete is %v", c.name, missing)
		}
		if why != want || (len(result["by"].(map[string]any)) == 0) != (want != "") {
			t.Errorf("%s: %q, want %q", c.name, why, want)
		}
	}
}

// Days before the first one held are no rise.
func TestDaysBeforeTheHistoryAreNamed(t *testing.T) {
	store := branches{held: []branch{{1, adlens.SponsoredProducts, 4, 9}, {2, adlens.SponsoredProducts, 3, 9}}}
	for start, want := range map[string]any{"2026-03-01": "2026-03-03", "2026-03-02": "2026-03-03", "2026-03-03": nil, "2026-03-07": nil} {
		result := explainedChange(t, store, map[string]any{"start_date": start, "end_date": "2026-03-09"})
		why, _ := result["why_not_divided"].(string)
		if says := strings.HasPrefix(why, "days before 2026-03-03, of the period and of the earlier one, are not held; send"); result["held_from"] != want || says != (want != nil) || (start == "2026-03-07") != (why == "") {
			t.Errorf("from %s: held_from is %v, want %v: %q", start, result["held_from"], want, why)
		}
	}
	if from := explainedChange(t, branches{}, nil)["held_from"]; from != nil {
		t.Errorf("nothing is held from %v on", from)
	}
}

// brands is branches with two campaigns, one of which has an id that no list can have.
type brands struct {
	branches
	ids []string
}

func (brands) Ranked(_ context.Context, st query.Statement, _ int, _ bool) (rows []query.RankedRow, total int, err error) {
	for _, key := range []uint32{1, 2} {
		if keys := st.Params["campaign_keys"]; keys == "" || strings.Contains(keys, fmt.Sprint(key)) {
			rows = append(rows, query.RankedRow{Marketplace: uint16(key), Campaign: key, Sums: exact.Sums{exact.Whole(900), exact.Whole(9), exact.Whole(1), exact.Whole(4_000_000), exact.Whole(20_000_000)}})
		}
	}
	return rows, len(rows), nil
}

func (b brands) Entities(context.Context, string, uint32) (all []query.NamedEntity, err error) {
	for i, id := range b.ids {
		all = append(all, query.NamedEntity{Key: uint32(i + 1), EntityID: adlens.EntityID{Type: adlens.CampaignEntity, ID: id}, MarketplaceName: adlens.MarketplaceName{DatedName: adlens.DatedName{Text: "Brand"}}})
	}
	return all, nil
}

func (brands) HeldKeys(_ context.Context, st query.Statement) ([]query.HeldKey, error) {
	return []query.HeldKey{{Key: 1, Generation: 5, Rows: 1}, {Key: 2, Generation: 5, Rows: 1}}, nil
}

// Campaigns are read as memory has them, and the marketplaces of those that are shown by
// their ids. One whose id cannot be sent has none.
func TestCampaignsOfAChangeAreInTheirMarketplaces(t *testing.T) {
	for ids, want := range map[string]string{
		"71 72":  "[[US 101 71 Brand] [DE 102 72 Brand]]",
		"71 7,2": "[[<nil> <nil> 71 Brand] [<nil> <nil> 7,2 Brand]]",
	} {
		result := explainedChange(t, brands{branches{held: []branch{{1, adlens.SponsoredProducts, 1, 9}, {2, adlens.SponsoredProducts, 1, 9}}}, strings.Fields(ids)}, map[string]any{"range": "yesterday"})
		part := result["by"].(map[string]any)["campaign"].(map[string]any)
		var got [][]any
		for _, row := range part["rows"].([]any) {
			got = append(got, row.([]any)[:4])
		}
		if columns := fmt.Sprint(part["columns"].([]any)[:4]); fmt.Sprint(got) != want || columns != "[marketplace marketplace_id campaign_id campaign_name]" {
			t.Errorf("%s: %s %v, want %s", ids, columns, got, want)
		}
		for _, request := range result["requests"].([]any) {
			if text := request.(string); strings.Contains(text, "dimensions=marketplace,campaign") && !strings.Contains(text, "campaign_ids=71,72") {
				t.Errorf("%s: it asks for all campaigns by marketplace: %s", ids, text)
			}
		}
	}
}
