package recipes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/house"
)

// queried is the table of a query in Power Query: columns as name and type.
type queried struct {
	Columns  [][2]string
	Rows     [][]any
	Requests []costed
}

// query evaluates a query of M (m.mjs).
func query(t *testing.T, text string) (table queried, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "query.m")
	house.Need(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := script(t, "m.mjs", file)
	if err == nil {
		err = json.Unmarshal(out, &table)
	}
	return table, err
}

// texts are the rows as CSV has them, names first.
func (q queried) texts(t *testing.T) [][]string {
	t.Helper()
	var names []string
	for _, column := range q.Columns {
		names = append(names, column[0])
	}
	rows := [][]string{names}
	for _, row := range q.Rows {
		texts := make([]string, len(row))
		for i, cell := range row {
			switch value := cell.(type) {
			case nil:
			case float64:
				texts[i] = string(house.Marshal(t, value))
			case map[string]any:
				for _, digits := range value {
					texts[i] = fmt.Sprint(digits)
				}
			default:
				texts[i] = fmt.Sprint(value)
			}
		}
		rows = append(rows, texts)
	}
	return rows
}

// pageQuery is the query that the page writes for a request below /api/v1.
func pageQuery(t *testing.T, server, key, request string) string {
	t.Helper()
	return replaced(t, string(mustRun(t, "page.mjs", "powerquery", server, "/api/v1"+request)), "YOUR_API_KEY", key)
}

// wantedTypes are the types of all columns that answers have.
var wantedTypes = func() map[string]string {
	types := map[string]string{}
	for kind, names := range map[string]string{
		"text": `activity_id ad_group_id ad_group_name ad_product budget_currency_code budget_type campaign_id campaign_name changes country_code
			currency currency_code default_bid_currency_code last_run_rule_run_id last_run_status marketplace marketplace_id marketplaces name product_id provenance rule_id
			rule_run_id schedule_frequency schedule_time schedule_timezone scope_campaign_ids scope_marketplaces section state status summary targeting timezone title tool`,
		"Currency.Type": "average_cpc comparison_average_cpc comparison_sales comparison_sales_clicks comparison_spend sales sales_clicks spend",
		"Int64.Type": `changed clicks comparison_clicks comparison_impressions comparison_purchases counts_ad_groups counts_ads counts_campaigns impressions
			last_run_changed looked_at_ad_groups looked_at_campaigns looked_at_targets purchases`,
		"date":         "comparison_date data_first_date data_last_date date end_date month start_date week",
		"datetimezone": "edited_at finished_at last_run_finished_at last_run_started_at occurred_at started_at",
		"number": `acos budget_amount comparison_acos comparison_change_acos comparison_change_average_cpc comparison_change_clicks comparison_change_conversion_rate comparison_change_ctr
			comparison_change_impressions comparison_change_purchases comparison_change_roas comparison_change_sales comparison_change_sales_clicks comparison_change_spend
			comparison_conversion_rate comparison_ctr comparison_roas conversion_rate ctr default_bid_amount roas units_sold_clicks_7d`,
	} {
		for _, name := range strings.Fields(names) {
			types[name] = kind
		}
	}
	return types
}()

// Every column of every answer has its type, and every row its values.
func TestAQueryHasATypeForEveryColumn(t *testing.T) {
	t.Parallel()
	h, ask := house.Demo(t)
	market := house.Members(t, ask, "/marketplaces", "marketplace_id")[0]
	rule := house.Members(t, ask, "/rules", "rule_id")[0]
	seen := map[string]bool{}
	for _, request := range []string{
		"/marketplaces", "/summary?compare=previous_period&marketplaces=US,UK", "/timeline?granularity=week&compare=previous_year", "/reports/products?range=last_30_days&compare=previous_period",
		"/report?dimensions=week,marketplace,ad_product,campaign,ad_group&currency=local&range=last_7_days", "/report?dimensions=month,product&range=last_90_days&figures=spend,sales_clicks,units_sold_clicks_7d&currency=local&marketplaces=" + market,
		"/report?dimensions=product&range=last_7_days&figures=sales_clicks&currency=local&compare=previous_period&marketplaces=" + market,
		"/campaigns?marketplace_id=" + market, "/ad-groups?marketplace_id=" + market, "/rules", "/rules/" + rule + "/runs", "/activity",
	} {
		table, err := query(t, pageQuery(t, h.Server.Address, ask.Key, request))
		house.Need(t, err)
		path := request + map[bool]string{true: "&", false: "?"}[strings.Contains(request, "?")] + "format=csv"
		if !strings.Contains(request, "summary") && !strings.Contains(request, "timeline") && !strings.Contains(request, "marketplaces") || strings.HasPrefix(request, "/report") {
			path += "&page_size=" + map[bool]string{true: "1000", false: "all"}[strings.Contains(request, "marketplace_id=")]
		}
		if strings.HasSuffix(request, "/runs") {
			path = request + "?format=csv"
		}
		want := house.CSVRows(t, house.Get(t, ask, "/api/v1"+path).Body)
		if !sameTable(table.texts(t), want) {
			t.Errorf("%s: the table has %d rows, the API %d: %.300v", request, len(table.Rows)+1, len(want), table.texts(t))
		}
		for _, column := range table.Columns {
			seen[column[0]] = true
			if column[1] != wantedTypes[column[0]] {
				t.Errorf("%s: %s has type %s, expected %q", request, column[0], column[1], wantedTypes[column[0]])
			}
		}
	}
	for name := range wantedTypes {
		if !seen[name] {
			t.Errorf("no answer had a column %s", name)
		}
	}
}

func TestAQueryFollowsTheRestatedPast(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	full := longTable()
	took := followsThePast(t, h, one, full, func() ([][]string, []costed) {
		table, err := query(t, pageQuery(t, h.Server.Address, one.Ask.Key, full))
		house.Need(t, err)
		return table.texts(t), table.Requests
	})
	for name, requests := range took {
		if len(requests) != 1 || requests[0].Status != 200 {
			t.Errorf("%s took %v, expected one answer", name, requests)
		}
	}
}

func TestAQueryReadsAllPagesOfAList(t *testing.T) {
	t.Parallel()
	h, ask := house.Demo(t)
	market := house.Members(t, ask, "/marketplaces", "marketplace_id")[0]
	want := house.CSVRows(t, house.Get(t, ask, "/api/v1/campaigns?page_size=1000&format=csv&marketplace_id="+market).Body)
	text := replaced(t, pageQuery(t, h.Server.Address, ask.Key, "/campaigns?marketplace_id="+market), `page_size = "1000"`, `page_size = "20"`)
	table, err := query(t, text)
	house.Need(t, err)
	pages := (len(want)-1+19)/20 + 1 // and the one that ends the list
	if !sameTable(table.texts(t), want) || len(table.Requests) != pages || pages < 3 {
		t.Errorf("%d rows in %d requests, expected %d in %d", len(table.Rows), len(table.Requests), len(want)-1, pages)
	}
}

func TestTheQueryOfTheRecipeRunsAsItStands(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	pasted := blocksOf(t, "excel", "text")[0]
	text := replaced(t, replaced(t, pasted, "https://figures.example.com", refusing(t, h.Server.Address, 429, theFirst)), "YOUR_API_KEY", one.Ask.Key)
	table, err := query(t, text)
	house.Need(t, err)
	want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1/reports/products?range=last_30_days&page_size=all&format=csv").Body)
	if !sameTable(table.texts(t), want) || len(want) < 2 || len(table.Requests) != 2 || table.Requests[0].Status != 429 {
		t.Errorf("%v by %v, expected %v after one refusal", table.texts(t), table.Requests, want)
	}
	if string(mustRun(t, "page.mjs", "powerquery", "https://figures.example.com", "/api/v1/reports/products?range=last_30_days")) != pasted {
		t.Error("the recipe's query is not the page's: integration/recipes/page.mjs prints it")
	}
	feed := house.Feed(t, h, one.Files.ID, "/reports/products?range=last_30_days")
	begin := replaced(t, blocksOf(t, "excel", "text")[1], "feed/feed_...", strings.TrimPrefix(feed, "/"))
	_, rest, _ := strings.Cut(pasted, "    // The type of each column")
	table, err = query(t, fmt.Sprintf("let\n    Server = %q,\n%s    // %s", h.Server.Address, begin, rest))
	if house.Need(t, err); !sameTable(table.texts(t), want) {
		t.Errorf("by a feed the table is %v, expected %v", table.texts(t), want)
	}
}

// The evaluator fails where Power Query would, and where it knows too little.
func TestTheEvaluatorOfQueriesIsStrict(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	right := pageQuery(t, h.Server.Address, one.Ask.Key, "/timeline?range=all_time")
	for _, c := range []struct{ old, now, wanted string }{
		{"in\n    Typed", "in\n    Typing", "'Typing' wasn't recognized"},
		{"in\n    Typed\n", "in\n", "does not parse"},
		{"Table.ColumnNames(Named)", "Table.Names(Named)", "'Table.Names' wasn't recognized"},
		{"else type number", "else type date", "couldn't convert"},
		{"else if List.Contains({\"date\", \"week\", \"month\"}, Last) then type date", "", "couldn't convert"},
		{`Replacer.ReplaceValue, Names)`, `Replacer.ReplaceValue, {"nothing"})`, "column 'nothing' of the table wasn't found"},
		{`Headers = `, `Heads = `, "'Heads' isn't a valid Web.Contents option"},
		{`range = "all_time"`, `range = 7`, "cannot convert a value of type number to type text"},
		{`"Bearer " & Key`, `"Bearer " & 7`, "cannot convert a value of type number to type text"},
		{`"Bearer " & Key`, `"Basic " & Key`, "401"},
		{`"en-US"`, `"de-DE"`, "culture"},
		{"Table.RowCount(Answer) > 99999", "Table.RowCount(Answer) > 0", "The server gives 100,000 rows at once"},
	} {
		if _, err := query(t, replaced(t, right, c.old, c.now)); err == nil || !strings.Contains(err.Error(), c.wanted) {
			t.Errorf("%q for %q: want an error about %q, got %v", c.now, c.old, c.wanted, err)
		}
	}
	if _, err := query(t, right); err != nil {
		t.Error(err)
	}
}
