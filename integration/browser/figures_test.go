package browser_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	setup "adlens/integration/house"
	"adlens/integration/model"
)

// row is an element of an answer, with numbers as they were sent.
type row map[string]any

func (r row) figures() []string {
	var all []string
	for _, name := range model.FigureNames {
		switch value := r[name].(type) {
		case nil:
			all = append(all, "none")
		default:
			all = append(all, fmt.Sprint(value))
		}
	}
	return all
}

// answer reads what the API says, in numbers of any size.
func answer(t *testing.T, c harness.Client, path string) row {
	t.Helper()
	a := api(t, c, path)
	if a.Status != 200 {
		t.Fatalf("%s: %s", path, a)
	}
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.UseNumber()
	var body row
	need(t, decoder.Decode(&body))
	return body
}

func (r row) list(name string) []row {
	var rows []row
	for _, element := range r[name].([]any) {
		rows = append(rows, element.(map[string]any))
	}
	return rows
}

// bare takes from a shown figure what is not of the number.
func bare(shown string) string {
	if strings.Contains(shown, "no value") {
		return "none"
	}
	return strings.NewReplacer("$", "", "€", "", "£", "", ",", "", "%", "").Replace(shown)
}

func bares(shown []string) []string {
	var all []string
	for _, text := range shown {
		all = append(all, bare(text))
	}
	return all
}

// table is a table of the page: for each row, its figures without units.
func (p *tab) table(caption string) [][]string { return p.tablePart(caption, "tBodies[0]") }

func (p *tab) tablePart(caption, part string) [][]string {
	p.t.Helper()
	rows := js[[][]string](p, fmt.Sprintf(`(() => {
		const table = [...document.querySelectorAll('table')].find((t) => t.caption.textContent === %q)
		return [...(table?.%s.rows ?? [])].map((row) => [...row.querySelectorAll('.n')].map((cell) => cell.textContent))
	})()`, caption, part))
	for i := range rows {
		rows[i] = bares(rows[i])
	}
	return rows
}

func sameRows(t *testing.T, what string, got [][]string, want []row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		same(t, fmt.Sprintf("%s, row %d", what, i+1), got[i], want[i].figures())
	}
}

func TestTheFiguresOnThePageAreTheAPIs(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, query := range []string{
		"range=last_30_days", "range=yesterday", "range=last_90_days&marketplaces=UK%2CUS", "range=last_month&ad_products=SPONSORED_BRANDS",
		"range=all_time", "range=last_90_days&granularity=week", "start_date=2025-02-20&end_date=2025-03-05&timezone=Asia%2FTokyo&marketplaces=DE", "range=today&timezone=Pacific%2FKiritimati",
	} {
		p.goTo("#/overview?" + query)
		ask := h.client(h.key)
		totals, timeline := answer(t, ask, "/api/v1/summary?"+strings.TrimSuffix(query, "&granularity=week")), answer(t, ask, "/api/v1/timeline?"+query)
		same(t, query, bares(p.texts("[data-figure]")), totals.figures())
		sameRows(t, query+" by marketplace", p.table("By marketplace"), totals.list("by_marketplace"))
		sameRows(t, query+" by ad type", p.table("By ad type"), totals.list("by_ad_product"))
		sameRows(t, query+" timeline", p.table("Timeline"), timeline.list("data"))
	}
}

func TestProductsAreSortedAndPagedByTheAPI(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	check := func(sort, order, page string) {
		t.Helper()
		path := fmt.Sprintf("/api/v1/reports/products?range=last_90_days&sort=%s&order=%s&page=%s&page_size=25", sort, order, page)
		said := answer(t, h.client(h.key), path)
		sameRows(t, path, p.table("Products"), said.list("data"))
		sameRows(t, path+", totals", p.tablePart("Products", "tFoot"), []row{said["totals"].(map[string]any)})
		want := map[string]string{"asc": "ascending", "desc": "descending"}[order]
		if got := js[[]string](p, `[...document.querySelectorAll('[aria-sort]')].map((th) => th.textContent.replace(/[▲▼]/, '') + ' ' + th.getAttribute('aria-sort'))`); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("aria-sort: %v, want %s by %s", got, want, sort)
		}
	}
	check("spend", "desc", "1")
	for _, step := range []struct{ click, sort, order, page, focus string }{
		{`[data-keep="sort-acos"]`, "acos", "desc", "1", "sort-acos"},
		{`[data-keep="sort-acos"]`, "acos", "asc", "1", "sort-acos"},
		{`[data-keep="Next"]`, "acos", "asc", "2", "Next"},
		{`[data-keep="Last"]`, "acos", "asc", "8", "First"}, // Last is off there
		{`[data-keep="sort-clicks"]`, "clicks", "desc", "1", "sort-clicks"},
	} {
		before := js[string](p, "location.hash")
		p.click(step.click)
		p.until(fmt.Sprintf("location.hash !== %q", before))
		p.settled()
		check(step.sort, step.order, step.page)
		if kept := js[string](p, "document.activeElement.dataset.keep ?? ''"); kept != step.focus {
			t.Errorf("the focus went from %s to %q, want %s", step.click, kept, step.focus)
		}
	}
	js[any](p, "(history.back(), null)")
	p.until("location.hash.includes('page=8')")
	p.settled()
	check("acos", "asc", "8")
}

func TestAProductIsFoundAndHasItsOwnTimeline(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	id := answer(t, h.client(h.key), "/api/v1/reports/products?range=last_90_days&page_size=2").list("data")[1]["product_id"].(string)
	js[any](p, fmt.Sprintf("(document.querySelector('[type=search]').value = %q, null)", strings.ToLower(id)))
	p.click(`[data-keep="find"]`)
	p.until("location.hash.includes('search=')")
	p.settled()
	found := answer(t, h.client(h.key), "/api/v1/report?dimensions=product&range=last_90_days&search="+id)
	sameRows(t, "found", p.table("Products"), found.list("data"))
	sameRows(t, "found, totals", p.tablePart("Products", "tFoot"), []row{found["totals"].(map[string]any)})
	p.says(".pages", "1 row, page")
	p.click(`[data-keep="sort-clicks"]`)
	p.until("location.hash.includes('sort=clicks')")
	p.settled()
	sameRows(t, "found, sorted", p.table("Products"), found.list("data"))
	p.click("table a")
	p.until("location.hash.startsWith('#/overview')")
	p.settled()
	own := "range=last_90_days&product_ids=" + id
	same(t, "its figures", bares(p.texts("[data-figure]")), answer(t, h.client(h.key), "/api/v1/summary?"+own).figures())
	sameRows(t, "its timeline", p.table("Timeline"), answer(t, h.client(h.key), "/api/v1/timeline?"+own).list("data"))
	p.click(".narrowed button")
	p.until("!location.hash.includes('product_ids')")
	p.settled()
	same(t, "all figures", bares(p.texts("[data-figure]")), answer(t, h.client(h.key), "/api/v1/summary?range=last_90_days").figures())
}

// A bid has as many decimals as the platform has of it.
func TestBidsAndBudgetsAreShownAsTheyWereSet(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "exact-bids", map[string]string{"profiles.json": usProfile})
	const profile = "9007199254740997"
	dir := t.TempDir()
	setup.ExportPair("campaigns", profile, "campaigns", time.Now(), setup.CampaignRow("77", "one", "USD")).Write(t, dir)
	bid := map[string]any{"defaultBid": json.Number("0.755"), "currencyCode": "USD"}
	setup.ExportPair("groups", profile, "adGroups", time.Now(), setup.With(setup.AdGroupRow("3", "77", "exact"), "bid", bid)).Write(t, dir)
	if l, err := h.Load("exact-bids", dir); err != nil || l.Code != 0 {
		t.Fatal(l, err)
	}
	p := h.tab(t, h.server.Address, "#/ad-groups").signIn(key)
	p.says("#view tbody", "$0.755")
	p.goTo("#/campaigns")
	p.says("#view tbody", "$10.50")
}

func TestTheOtherViewsShowWhatTheAPIHolds(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaigns").signIn(h.key)
	ask := h.client(h.key)
	market := answer(t, ask, "/api/v1/marketplaces").list("data")[1]["marketplace_id"].(string)
	rules := answer(t, ask, "/api/v1/rules").list("data")
	rules = slices.DeleteFunc(rules, func(r row) bool { return r["last_run"] == nil }) // the newest ones have none on some days
	rule := rules[len(rules)/2]["rule_id"].(string)
	for _, view := range []struct{ fragment, path, column string }{
		{"#/campaigns?marketplace_id=" + market + "&page=2&page_size=25", "/api/v1/campaigns?page=2&page_size=25&marketplace_id=" + market, "campaign_id"},
		{"#/campaigns?search=garden&marketplace_id=" + market, "/api/v1/campaigns?search=garden&page_size=50&marketplace_id=" + market, "campaign_id"},
		{"#/ad-groups?search=core&marketplace_id=" + market, "/api/v1/ad-groups?search=core&page_size=50&marketplace_id=" + market, "ad_group_id"},
		{"#/ad-groups?marketplace_id=" + market, "/api/v1/ad-groups?page_size=50&marketplace_id=" + market, "ad_group_id"},
		{"#/rules", "/api/v1/rules", "rule_id"},
		{"#/activity?tool=undo", "/api/v1/activity?tool=undo&page_size=50", "summary"},
	} {
		p.goTo(view.fragment)
		var want []string
		for _, r := range answer(t, ask, view.path).list("data") {
			want = append(want, r[view.column].(string))
		}
		got := p.texts("tbody th .id")
		if view.column == "summary" {
			got = p.texts("tbody th")
		}
		same(t, view.fragment, got, want)
	}
	p.goTo("#/runs?rule_id=" + rule)
	if got, want := len(p.texts("details.run")), len(answer(t, ask, "/api/v1/rules/"+rule+"/runs").list("data")); got != want || want == 0 {
		t.Errorf("%d runs, want %d", got, want)
	}
}

// Where the server compares, the page shows the changes; where it refuses to,
// the page says so, and shows the figures without.
func TestComparisonsAreShownOrSaidToBeMissing(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, query := range []string{"range=last_7_days&compare=previous_period", "range=last_month&compare=previous_year", "range=today&compare=previous_period"} {
		p.goTo("#/overview?" + query)
		a := api(t, h.client(h.key), "/api/v1/summary?"+query)
		if a.Status == 400 {
			var refusal struct{ Detail string }
			need(t, json.Unmarshal(a.Body, &refusal))
			p.says("#notices", refusal.Detail)
			plain := strings.Split(query, "&")[0]
			same(t, query, bares(p.texts("[data-figure]")), answer(t, h.client(h.key), "/api/v1/summary?"+plain).figures())
			continue
		}
		totals := answer(t, h.client(h.key), "/api/v1/summary?"+query)
		same(t, query, bares(p.texts("[data-figure]")), totals.figures())
		changes := row(row(totals["comparison"].(map[string]any))["change"].(map[string]any)).figures()
		shown := p.texts(".since .change")
		if len(shown) != len(changes) {
			t.Fatalf("%s: %d changes are shown, want %d", query, len(shown), len(changes))
		}
		for i, shown := range shown {
			if got := strings.NewReplacer("+", "", " pts", "", "–", "none").Replace(bare(shown)); got != changes[i] {
				t.Errorf("%s: %s changed by %q, want %s", query, model.FigureNames[i], shown, changes[i])
			}
		}
	}
}
