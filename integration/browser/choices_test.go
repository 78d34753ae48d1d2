package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// account makes an account of some files, and a key of it.
func (h *house) account(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	key, err := h.Account(name)
	need(t, err)
	l, err := h.Load(name, filesIn(t, files))
	need(t, err)
	if l.Code != 0 {
		t.Fatal(l)
	}
	return key
}

// filesIn makes a directory of some files.
func filesIn(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		need(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	return dir
}

func TestAmountsAreInTheOwnCurrencyWhereThereIsOne(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=last_month&marketplaces=DE").signIn(h.key)
	p.choose(".controls label:nth-of-type(4) select", "local")
	p.until("location.hash.includes('currency=local')")
	p.settled()
	said := answer(t, h.client(h.key), "/api/v1/summary?range=last_month&marketplaces=DE&currency=local")
	same(t, "in euros", bares(p.texts("[data-figure]")), said.figures())
	if got := p.texts("[data-figure]")[0]; !strings.HasPrefix(got, "€") {
		t.Errorf("the spend is %s", got)
	}
	if got := p.at(0); !strings.Contains(got, "€") {
		t.Errorf("the chart says %q", got)
	}

	// What an address has in another spelling is applied too, and shown as it is.
	p.goTo("#/overview?range=last_month&marketplaces=de")
	if got := p.texts(".controls .ticks .value")[0]; got != "de" {
		t.Errorf("the picker of marketplaces says %q", got)
	}

	// Amounts of several currencies have no sum: the page says why, and shows dollars.
	p.goTo("#/overview?range=last_month&currency=local")
	var refusal struct{ Detail string }
	need(t, json.Unmarshal(api(t, h.client(h.key), "/api/v1/summary?range=last_month&currency=local").Body, &refusal))
	p.says("#notices", refusal.Detail)
	same(t, "in dollars", bares(p.texts("[data-figure]")), answer(t, h.client(h.key), "/api/v1/summary?range=last_month").figures())
	if got := js[string](p, "[...document.querySelectorAll('.controls select')].find((s) => [...s.options].some((o) => o.value === 'local')).value"); got != "local" {
		t.Errorf("the choice says %q", got)
	}

	// Reports have rows of each currency.
	for fragment, path := range map[string]string{"#/products": byProduct + ",marketplace", "#/campaign-figures": byCampaign, "#/ad-group-figures": byAdGroup + ",marketplace"} {
		p.goTo(fragment + "?range=last_90_days&currency=local")
		said := answer(t, h.client(h.key), path+"&currency=local&page_size=25").list("data")
		sameRows(t, path, p.table(js[string](p, "document.querySelector('caption').textContent")), said)
		signs := map[string]string{"US": "$", "DE": "€", "UK": "£"}
		for i, spend := range p.texts("tbody td.n:has(.bar), tbody tr > .n:nth-of-type(2)") {
			if i < len(said) && !strings.ContainsAny(spend, "$€£") {
				t.Errorf("%s, row %d: %q has no currency, want %s", path, i+1, spend, signs[fmt.Sprint(said[i]["marketplace"])])
			}
		}
	}
}

func TestFurtherMeasuresAreColumnsOfReports(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	js[chromedp.Void](p, `['spend', 'units_sold_clicks_7d', 'units_sold'].forEach((name) => document.querySelector('.ticks input[value="' + name + '"]').click())`)
	p.until("location.hash.includes('units_sold_clicks_7d')")
	p.settled()
	said := answer(t, h.client(h.key), byProduct+"&figures=spend,units_sold_clicks_7d,units_sold&page_size=25")
	figures, rows := said["figures"].([]any), said.list("data")
	got := p.table("Products")
	if len(rows) == 0 || len(got) != len(rows) {
		t.Fatalf("%d rows are shown, want %d", len(got), len(rows))
	}
	for i, r := range rows {
		var want []string
		for _, name := range figures {
			value := fmt.Sprint(r[name.(string)])
			if r[name.(string)] == nil {
				value = "none"
			}
			want = append(want, value)
		}
		same(t, fmt.Sprintf("row %d", i+1), got[i], want)
	}
	// Sponsored Brands do not report what Products do; the page shows that as often as the API.
	p.says("#notices", "Units sold clicks 7d: not reported, or not by all reports, for Sponsored Brands of DE")

	// What no report of the ad types has is left out of the columns, with the reason.
	p.goTo("#/campaign-figures?range=last_90_days&ad_products=SPONSORED_BRANDS&figures=spend%2Cunits_sold_clicks_7d&sort=units_sold_clicks_7d")
	p.says("#notices", "Shown without these columns: ")
	same(t, "the columns", p.texts("thead .n"), []string{"▼Spend"})

	// Amounts that are kept only in local currency are requested in it.
	p.goTo("#/products?range=last_90_days&figures=spend%2Csales_7d")
	p.says("#notices", "send currency=local")
	p.goTo("#/products?range=last_90_days&figures=spend%2Csales_7d&currency=local")
	same(t, "the columns", p.texts("thead .n"), []string{"▼Spend", "Sales 7d"})
}

const (
	usProfile = `[{"profileId": 9007199254740997, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller"}}]`
	oldBrands = `{"reportId": "b", "profileId": 9007199254740997, "startDate": "2026-01-02", "endDate": "2026-01-03", "generatedAt": "2026-01-05T08:00:00Z", "status": "COMPLETED",
		"configuration": {"adProduct": "SPONSORED_BRANDS", "reportTypeId": "sbCampaigns", "groupBy": ["campaign"], "timeUnit": "DAILY", "format": "GZIP_JSON",
		"columns": ["date", "campaignId", "cost", "sales", "impressions", "clicks", "purchases"]}}`
	oldBrandRows = `[{"date": "2026-01-02", "campaignId": 11, "cost": 1.25, "sales": 5, "impressions": 100, "clicks": 4, "purchases": 1}]`
)

func TestTheFieldsOfDatesGoWithTheirPeriod(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	const period, hidden = ".controls select", "document.querySelector('.dates').hidden"
	p := h.tab(t, h.server.Address, "#/products?range=last_7_days").signIn(h.key)
	p.choose(period, "custom")
	shown := !js[bool](p, hidden)
	if p.choose(period, "last_7_days"); !shown || !js[bool](p, hidden) { // which it is already
		t.Errorf("the fields of dates: shown %t, then hidden %t", shown, js[bool](p, hidden))
	}
}

func TestOldFiguresAreWarnedOf(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "stale", map[string]string{"profiles.json": usProfile, "b.report.json": oldBrands, "b.json": oldBrandRows})
	p := h.tab(t, h.server.Address, "#/overview?range=all_time").signIn(key)
	p.says("#notices", "No figures have come since Jan 3, 2026")
	p.goTo("#/products?start_date=2026-01-01&end_date=2026-01-31")
	p.says("#notices", "No figures have come since Jan 3, 2026")
	if text := p.text("#view"); strings.Contains(text, "still grow") {
		t.Errorf("old figures are reported to grow: %s", text)
	}
	fresh := h.tab(t, h.server.Address, "").signIn(h.key)
	fresh.says("#view", "still grow")
	if text := fresh.text("#notices"); text != "" {
		t.Errorf("new figures are warned of: %s", text)
	}
}

// Campaigns that the platform's reports leave out are named on every view of figures
// that lack them, and on no other.
func TestCampaignsThatReportsLeaveOutAreNamed(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	campaign := func(id int, name string, multi bool) string {
		return fmt.Sprintf(`{"campaignId": "%d", "adProduct": "SPONSORED_BRANDS", "name": %q, "state": "ENABLED", "startDate": "2025-02-28", "isMultiAdGroupsEnabled": %t,
			"budgetCaps": {"recurrenceTimePeriod": "DAILY", "budgetType": "MONETARY", "budgetValue": {"monetaryBudget": {"currencyCode": "USD", "amount": 60}}}}`, id, name, multi)
	}
	key := h.account(t, "leftout", map[string]string{
		"profiles.json": usProfile, "b.report.json": oldBrands, "b.json": oldBrandRows,
		"c.export.json": `{"exportId": "c", "profileId": 9007199254740997, "entity": "campaigns", "status": "COMPLETED", "generatedAt": "2026-01-05T08:00:00.000Z"}`,
		"c.json":        "[" + strings.Join([]string{campaign(11, "Brand", true), campaign(12, "Brand of old", false), campaign(13, "Older brand", false)}, ",") + "]",
	})
	p := h.tab(t, h.server.Address, "#/overview?range=all_time").signIn(key)
	for _, fragment := range []string{"#/overview?range=all_time", "#/products?range=all_time", "#/campaign-figures?range=all_time&figures=spend", "#/overview?range=all_time&granularity=day&stack=ad_product"} {
		p.goTo(fragment)
		p.says("#notices", "Sponsored Brands of US are too low: the platform reports no figures of 2 legacy campaigns with one ad group (Brand of old, Older brand).")
	}
	for _, fragment := range []string{"#/overview?range=all_time&ad_products=SPONSORED_PRODUCTS", "#/overview?start_date=2025-01-01&end_date=2025-01-31", "#/rules"} {
		p.goTo(fragment)
		if text := p.text("#notices"); strings.Contains(text, "too low") {
			t.Errorf("%s: %s", fragment, text)
		}
	}
}
