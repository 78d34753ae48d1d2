package assistant_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// Calls of adlens mcp count where requests of the API do: in the server that runs
// on the same data directory.
func TestCallsOnTheMachineCountInTheRunningServer(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	key, err := p.Account("acme")
	house.Need(t, err)
	server, err := p.Serve("--limit-minute", "4")
	house.Need(t, err)
	s := openSession(t, p, "acme")
	for range 3 {
		s.mustCall(t, "overview", nil)
	}
	api := harness.Client{Address: server.Address, Key: key}
	if a := house.Get(t, api, "/api/v1/summary"); a.Status != 200 {
		t.Fatal(a)
	}
	if _, refusal := s.call(t, "overview", nil); !strings.Contains(refusal, "the account's limit of requests per minute is reached") {
		t.Errorf("the call beyond the limit: %q", refusal)
	}
	if a := house.Get(t, api, "/api/v1/summary"); a.Status != 429 {
		t.Errorf("the request beyond the limit: %s", a)
	}
	house.Need(t, server.Stop())
	if _, err := os.Stat(filepath.Join(p.DataDir, "serve.json")); err == nil {
		t.Error("the server left its file")
	}
	s.mustCall(t, "overview", nil) // counts by itself again
}

// An assistant has 30 calls a minute, unless limits of a minute are off.
func TestAnAssistantHasItsOwnLimitOfAMinute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minute  string
		refused bool
	}{{"1000", true}, {"0", false}} {
		p := house.OwnProgram(t)
		_, err := p.Account("acme")
		house.Need(t, err)
		s := openSession(t, p, "acme", "--limit-minute", c.minute)
		var last string
		for range 31 {
			_, last = s.call(t, "list", map[string]any{"kind": "rules"})
		}
		if strings.Contains(last, "the limit of an assistant's calls per minute is reached") != c.refused {
			t.Errorf("--limit-minute %s: the 31st call says %q", c.minute, last)
		}
	}
}

// A wrong call gets a result that names the argument and what was expected.
func TestWrongCallsAreRefusedByName(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	_, err := h.Account("wrong-calls")
	house.Need(t, err)
	s := openSession(t, h.Program, "wrong-calls", "--limit-minute", "0")
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"figures", map[string]any{"range": "last_31_days"}, `range: "last_31_days" is not known here; expected one of today`},
		{"figures", map[string]any{"range": "today", "start_date": "2026-01-01"}, "start_date"},
		{"figures", map[string]any{"marketplaces": []string{"XX"}}, `"XX" is not known`},
		{"figures", map[string]any{"format": "csv"}, `"format" is no argument of figures`},
		{"rank", map[string]any{"dimensions": []string{"keyword"}}, "keyword"},
		{"rank", map[string]any{"dimensions": []string{"date", "week"}}, "week"},
		{"rank", map[string]any{"figures": []string{"acos/spend"}}, `"acos/spend" is not known`},
		{"figures", map[string]any{"figures": []string{"new_to_brand_purchases%purchases"}}, "only reports of SPONSORED_BRANDS, SPONSORED_DISPLAY have both new_to_brand_purchases and purchases; send no others as ad_products"},
		{"timeline", map[string]any{"figures": []string{"sales_7d%sales"}, "ad_products": []string{"sponsored_products", "SPONSORED_DISPLAY"}}, "only reports of SPONSORED_PRODUCTS have both sales_7d and sales; send"},
		{"rank", map[string]any{"by": "spend/purchases"}, `by is "spend/purchases"; expected spend`},
		{"rank", map[string]any{"by": "product"}, `by: "product" is not known here; expected a figure or dimension of the answer: spend`},
		{"rank", map[string]any{"campaign_ids": []string{"1"}}, `"1"`},
		{"rank", map[string]any{"search": "x"}, `search: "x" is not valid; expected 2 to 100 characters`},
		{"timeline", map[string]any{"granularity": "hour"}, "hour"},
		{"list", nil, "kind is missing; expected campaigns, ad_groups, rules, rule_runs"},
		{"list", map[string]any{"kind": "keywords"}, `kind is "keywords"; expected campaigns`},
		{"list", map[string]any{"kind": "rules", "states": []string{"ENABLED"}}, "states is no argument of kind rules"},
		{"list", map[string]any{"kind": "rule_runs"}, "rule_id is missing"},
		{"list", map[string]any{"kind": "rule_runs", "rule_id": "no/such"}, `there is no rule "no/such"; expected an id that list with kind rules has`},
		{"list", map[string]any{"kind": "rule_runs", "rule_id": "no/such", "rule_run_id": "1"}, "expected an id that list with kind rules has"},
		{"figures", map[string]any{"figures": []string{"spend", "orders"}}, `figures: "orders" is not known here; expected one of spend, sales, acos, roas, impressions, clicks, ctr, average_cpc, purchases, conversion_rate, or a measure of adlens://formulas; did you mean purchases?`},
		{"rank", map[string]any{"by": "Orders"}, "or a measure of adlens://formulas, or a dimension of the call; did you mean purchases?"},
		{"explain_change", map[string]any{"figure": "orders"}, "; did you mean purchases?"},
		{"rank", map[string]any{"where": []string{"orders=0"}}, "where has the figure orders; expected spend, sales, acos"},
		{"rank", map[string]any{"where": []string{"Orders=0"}}, "or a measure of adlens://formulas; did you mean purchases?"},
		{"explain_change", map[string]any{"compare": "weekly"}, "weekly"},
		{"explain_change", map[string]any{"compare": "none"}, `compare is "none"; expected previous_period, previous_year`},
		{"timeline", map[string]any{"granularity": "campaign"}, `granularity is "campaign"; expected auto, day, week, month`},
		{"rank", map[string]any{"page": "two"}, `page is "two"; expected a number`},
		{"list", map[string]any{"kind": "campaigns", "marketplace": "US"}, "the account has no marketplaces yet"},
		{"activity", map[string]any{"tool": []string{"delete"}}, "delete"},
		{"explain_change", map[string]any{"figure": "profit"}, `figure is "profit"; expected spend`},
		{"overview", map[string]any{"account": "other"}, `"account" is no argument of overview, which has none`},
	} {
		if _, refusal := s.call(t, c.tool, c.arguments); !strings.Contains(refusal, c.want) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.arguments, refusal, c.want)
		}
	}
}

// A list takes a marketplace as figures do, and its refusal has the value that was sent.
func TestAListNamesItsMarketplaceAsFiguresDo(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	s := openSession(t, h.Program, one.Files.ID)
	for _, name := range []string{" US", "us", "101 ", "gb"} {
		listed := s.mustCall(t, "list", map[string]any{"kind": "campaigns", "marketplace": name})
		if said, _ := listed["not_read"].(string); listed["synced_at"] != nil || !strings.HasPrefix(said, "this list was never read from the platform") {
			t.Errorf("campaigns of %s, which were never read: %v", name, listed)
		}
		s.mustCall(t, "figures", map[string]any{"marketplaces": name})
	}
	for _, c := range []struct {
		arguments map[string]any
		want      string
	}{
		{map[string]any{"kind": "campaigns"}, "marketplace is missing; expected one of UK (102), US (101)"},
		{map[string]any{"kind": "campaigns", "marketplace": "DE"}, `marketplace is "DE"; expected one of UK (102), US (101)`},
		{map[string]any{"kind": "ad_groups", "marketplace": " "}, `marketplace is ""; expected one of UK (102), US (101)`},
	} {
		if _, refusal := s.call(t, "list", c.arguments); refusal != c.want {
			t.Errorf("%v: %q, want %q", c.arguments, refusal, c.want)
		}
	}
	several := map[string]any{"by": "sales_7d", "currency": "local", "dimensions": "marketplace"}
	if _, refusal := s.call(t, "rank", several); refusal != "rows cannot be sorted by sales_7d, which is in several currencies here; sort by another figure, or by a dimension" {
		t.Errorf("by amounts of several currencies: %q", refusal)
	}
	for _, c := range []struct{ condition, currency, marketplaces, want string }{
		{"spend>0.5", "local", "", "where has spend, which is in several currencies here; send currency=USD, or marketplaces of one currency"},
		{"average_cpc>0.5", "local", "", "where has average_cpc, which is in several currencies here; send currency=USD, or marketplaces of one currency"},
		{"sales_7d>0.5", "local", "", "where has sales_7d, which is in several currencies here; send marketplaces of one currency"},
		{"acos>0.5", "local", "", ""}, {"clicks>0.5", "local", "", ""}, {"spend>0.5", "local", "US", ""}, {"spend>0.5", "USD", "", ""},
		{"spend>0", "local", "", ""}, {"sales_7d=0.00", "local", "", ""}, // 0 is the same in every currency
	} {
		sent := map[string]any{"range": "all_time", "by": "clicks", "currency": c.currency, "dimensions": "marketplace", "where": c.condition}
		if c.marketplaces != "" {
			sent["marketplaces"] = c.marketplaces
		}
		if _, refusal := s.call(t, "rank", sent); refusal != c.want {
			t.Errorf("%v: %q, want %q", sent, refusal, c.want)
		}
	}
}

// Where records were never loaded, no rows do not mean that nothing happened.
func TestRecordsThatWereNeverLoadedAreNotNothing(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	s := openSession(t, h.Program, one.Files.ID)
	mustSay := func(tool string, arguments map[string]any, want bool) {
		t.Helper()
		listed := s.mustCall(t, tool, arguments)
		if said, _ := listed["not_read"].(string); strings.HasPrefix(said, "no such records were loaded") != want {
			t.Errorf("%s %v, whether not_read is expected: %t, got %v", tool, arguments, want, listed)
		}
	}
	mustSay("list", map[string]any{"kind": "rules"}, true)
	dir := t.TempDir()
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("one")))
	house.ExportPair("campaigns", "101", "campaigns", time.Now().Add(-time.Hour), house.ThreeCampaigns()...).Write(t, dir)
	house.Load(t, h.Program, one, dir)
	mustSay("list", map[string]any{"kind": "rules"}, false)
	for column, list := range map[string]map[string]any{"last_run": {"kind": "rules"}, "provenance": {"kind": "campaigns", "marketplace": "101"}} {
		if columns := textsOf(s.mustCall(t, "list", list)["columns"]); len(columns) == 0 || slices.Contains(columns, column) {
			t.Errorf("%s, which follows from records that are not there: the columns are %s", column, columns)
		}
	}
	mustSay("list", map[string]any{"kind": "rule_runs", "rule_id": "one"}, true)
	if which := s.mustCall(t, "list", map[string]any{"kind": "rule_runs", "rule_id": "one"})["runs_listed"]; which != nil {
		t.Errorf("of runs that are not known runs_listed is %v", which)
	}
	mustSay("activity", nil, true)
	mustSay("activity", map[string]any{"tool": []string{"undo"}}, true)
}

// Values are read in any case, as the API reads them: one call with such a value once
// ended the server.
func TestValuesAreReadInAnyCase(t *testing.T) {
	t.Parallel()
	h, _ := house.Demo(t)
	s := openSession(t, h.Program, harness.DemoAccount)
	s.mustCall(t, "explain_change", map[string]any{"compare": "Previous_Year", "figure": "ACOS"})
	got := s.mustCall(t, "figures", map[string]any{"figures": []string{"Spend, SALES", "spend"}})["by_ad_product"].(map[string]any)
	if columns := strings.Join(textsOf(got["columns"]), " "); columns != "ad_product spend sales spend_share_percent" {
		t.Errorf("the columns are %s", columns)
	}
	cut := 0
	runs := s.mustCall(t, "list", map[string]any{"kind": "rules"})
	for _, one := range []map[string]any{runs, s.mustCall(t, "activity", nil), s.mustCall(t, "list", map[string]any{"kind": "campaigns", "marketplace": "US"})} {
		if one["not_read"] != nil {
			t.Errorf("a list that is held has not_read: %s", one["not_read"])
		}
	}
	for _, rule := range runs["rows"].([]any) {
		id := rule.([]any)[0]
		listed := s.mustCall(t, "list", map[string]any{"kind": "rule_runs", "rule_id": id})
		if len(listed["rows"].([]any)) == 0 {
			continue
		}
		checkWhichRuns(t, listed)
		run := listed["rows"].([]any)[0].([]any)
		changes := s.mustCall(t, "list", map[string]any{"kind": "rule_runs", "rule_id": id, "rule_run_id": run[0]})
		for _, one := range []map[string]any{listed, changes} {
			if want := fmt.Sprintf("/api/v1/rules/%s/runs", id); !slices.Equal(textsOf(one["requests"]), []string{want}) {
				t.Errorf("the requests are %v, expected %s", one["requests"], want)
			}
		}
		all, err := changes["total_rows"].(json.Number).Int64()
		house.Need(t, err)
		if shown := run[slices.Index(textsOf(listed["columns"]), "changes")].([]any); all > 3 {
			cut++
			if want := fmt.Sprintf("and %d more: name rule_run_id for all", all-3); len(shown) != 4 || shown[3] != want {
				t.Errorf("run %v shows %v, expected three changes and %q", run[0], shown, want)
			}
		}
		changed := run[slices.Index(textsOf(listed["columns"]), "changed")].(json.Number).String()
		if total := changes["total_rows"].(json.Number).String(); total != changed {
			t.Errorf("run %v changed %s, and %s are listed", run[0], changed, total)
		}
	}
	if cut == 0 {
		t.Error("no run has more changes than are shown")
	}
}

// checkWhichRuns demands that runs of a rule are not taken for all that there were.
func checkWhichRuns(t *testing.T, listed map[string]any) {
	t.Helper()
	want, rows := "all but tests;", listed["rows"].([]any)
	if len(rows) == 20 {
		oldest := rows[19].([]any)[slices.Index(textsOf(listed["columns"]), "started_at")].(string)
		want = "the last 20, from " + oldest[:10] + " on;"
	}
	if said, _ := listed["runs_listed"].(string); !strings.HasPrefix(said, want) || !strings.Contains(said, "activity") {
		t.Errorf("of %d runs runs_listed is %q, expected %q", len(rows), said, want)
	}
}
