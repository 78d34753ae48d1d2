package browser_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"adlens/integration/harness"
)

const (
	byCampaign = "/api/v1/report?range=last_90_days&dimensions=campaign,marketplace"
	byAdGroup  = "/api/v1/report?range=last_90_days&dimensions=ad_group,campaign"
	byProduct  = "/api/v1/report?range=last_90_days&dimensions=product"
)

// arrive waits until the page is at a fragment that begins so, and shows it.
func (p *tab) arrive(fragment string) {
	p.t.Helper()
	p.until(fmt.Sprintf("location.hash.startsWith(%q)", fragment))
	p.settled()
}

func (p *tab) clickLink(selector, text string) {
	p.t.Helper()
	js[chromedp.Void](p, fmt.Sprintf("{[...document.querySelectorAll(%q)].find((a) => a.textContent === %q).click()}", selector, text))
}

// isReport compares a table with a report's first page of the page's size, and
// with its totals.
func (p *tab) isReport(h *house, caption, path string) row {
	p.t.Helper()
	said := answer(p.t, h.client(h.key), path+"&page_size=25")
	sameRows(p.t, path, p.table(caption), said.list("data"))
	sameRows(p.t, path+", totals", p.tablePart(caption, "tFoot"), []row{said["totals"].(map[string]any)})
	if len(said.list("data")) == 0 {
		p.t.Errorf("%s has no rows", path)
	}
	return said
}

// isOverview compares the overview with the answers to its filters.
func (p *tab) isOverview(h *house, filters string) {
	p.t.Helper()
	same(p.t, filters, bares(p.texts("[data-figure]")), answer(p.t, h.client(h.key), "/api/v1/summary?range=last_90_days"+filters).figures())
	sameRows(p.t, filters+", timeline", p.table("Timeline"), answer(p.t, h.client(h.key), "/api/v1/timeline?range=last_90_days"+filters).list("data"))
}

func TestACampaignIsFoundAndLeadsToAllThatIsOfIt(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	p.click(`[data-keep="view-campaign-figures"]`)
	p.arrive("#/campaign-figures")
	p.isReport(h, "Campaigns", byCampaign)
	js[any](p, "(document.querySelector('[type=search]').value = 'garden | ex', null)")
	p.click(`[data-keep="find"]`)
	p.until("location.hash.includes('search=')")
	p.settled()
	campaign := p.isReport(h, "Campaigns", byCampaign+"&search=garden+%7C+ex").list("data")[0]
	id, name := campaign["campaign_id"].(string), campaign["campaign_name"].(string)
	of := "&campaign_ids=" + id

	p.clickLink("tbody th a", "Ad groups of "+name)
	p.arrive("#/ad-group-figures")
	group := p.isReport(h, "Ad groups", byAdGroup+of).list("data")[0]
	p.says(".narrowed", "Only campaign "+name+" "+id)
	p.clickLink("tbody th a", group["ad_group_name"].(string))
	p.arrive("#/overview")
	p.isOverview(h, of+"&ad_group_ids="+group["ad_group_id"].(string))

	for range 2 {
		js[any](p, "(history.back(), null)")
		p.until("!location.hash.includes('ad_group_ids')")
		p.settled()
	}
	p.arrive("#/campaign-figures")
	if got := js[string](p, "document.querySelector('[type=search]').value"); got != "garden | ex" {
		t.Errorf("Back leads to a search of %q", got)
	}
	p.clickLink("tbody th a", "Products of "+name)
	p.arrive("#/products")
	p.isReport(h, "Products", byProduct+of)
	js[any](p, "(history.back(), null)")
	p.arrive("#/campaign-figures")
	p.clickLink("tbody th a", name)
	p.arrive("#/overview")
	p.isOverview(h, of)
	p.click(".narrowed button")
	p.until("!location.hash.includes('campaign_ids')")
	p.settled()
	p.isOverview(h, "")
}

func TestAProductLeadsToItsCampaigns(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	product := answer(t, h.client(h.key), byProduct+"&page_size=2").list("data")[1]
	p.clickLink("tbody th a", "Campaigns of "+product["title"].(string))
	p.arrive("#/campaign-figures")
	p.isReport(h, "Campaigns", byCampaign+"&product_ids="+product["product_id"].(string))
	p.says(".narrowed", "Only product "+product["title"].(string))
}

func TestCampaignsAreComparedSortedAndPagedByTheAPI(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaign-figures?range=last_30_days&compare=previous_period&ad_products=SPONSORED_PRODUCTS").signIn(h.key)
	for _, step := range []struct{ click, query string }{
		{`[data-keep="sort-acos"]`, "sort=acos&order=desc&page=1"},
		{`[data-keep="sort-acos"]`, "sort=acos&order=asc&page=1"},
		{`[data-keep="Next"]`, "sort=acos&order=asc&page=2"},
		{`[data-keep="sort-marketplace"]`, "sort=marketplace&order=desc&page=1"},
	} {
		before := js[string](p, "location.hash")
		p.click(step.click)
		p.until(fmt.Sprintf("location.hash !== %q", before))
		p.settled()
		if kept := js[string](p, "document.activeElement.dataset.keep ?? ''"); !strings.Contains(step.click, kept) {
			t.Errorf("the focus went from %s to %q", step.click, kept)
		}
		js[chromedp.Void](p, "document.querySelectorAll('.change').forEach((e) => e.remove())")
		path := "/api/v1/report?range=last_30_days&compare=previous_period&ad_products=SPONSORED_PRODUCTS&dimensions=campaign,marketplace&page_size=25&" + step.query
		said := answer(t, h.client(h.key), path)
		sameRows(t, path, p.table("Campaigns"), said.list("data"))
		sameRows(t, path+", totals", p.tablePart("Campaigns", "tFoot"), []row{said["totals"].(map[string]any)})
	}
}

// Names are not what the API sorts by, but their ids; and rows are more than campaigns
// where a marketplace has figures of none.
func TestNamesSortNothingAndRowsAreCountedAsSuch(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for fragment, path := range map[string]string{"#/products": byProduct, "#/campaign-figures": byCampaign, "#/ad-group-figures": byAdGroup} {
		p.goTo(fragment + "?range=last_90_days")
		if sorting, others := p.count("thead th:not(.n) .sort"), p.count("thead .n .sort"); others != 10 || sorting > p.count(`[data-keep="sort-marketplace"]`) {
			t.Errorf("%s is sorted by %q", fragment, p.texts("thead .sort"))
		}
		total := answer(t, h.client(h.key), path+"&page_size=25")["pagination"].(map[string]any)["total_rows"]
		p.says(".pages", fmt.Sprintf("%v rows, page 1 of", total))
	}
}

// The columns that are chosen are those of the table, of the request that is
// shown, and of the file, which has every page.
func TestColumnsAreChosenAndTheFileHasThemForAllRows(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaign-figures?range=last_90_days").signIn(h.key)
	js[chromedp.Void](p, `['acos', 'clicks'].forEach((name) => document.querySelector('.ticks input[value="' + name + '"]').click())`)
	p.until("new URLSearchParams(location.hash.split('?')[1]).get('figures') === 'acos,clicks'")
	p.settled()
	said := answer(t, h.client(h.key), byCampaign+"&figures=acos,clicks&page_size=25")
	got := p.table("Campaigns")
	for i, r := range said.list("data") {
		same(t, fmt.Sprintf("row %d", i+1), got[i], []string{fmt.Sprint(r["acos"]), fmt.Sprint(r["clicks"])})
	}
	same(t, "sorted by", p.texts("[aria-sort]"), []string{"▼ACOS"})
	line := js[string](p, "document.querySelector('#elsewhere pre').textContent")
	for _, part := range []string{"figures=acos%2Cclicks", "page_size=all"} {
		if !strings.Contains(line, part) {
			t.Errorf("the request has no %s: %s", part, line)
		}
	}
	file := p.download(t, "csv")
	want := api(t, h.client(h.key), byCampaign+"&figures=acos,clicks&order=desc&page_size=all&format=csv")
	if file != string(want.Body) || strings.Count(file, "\n") <= 26 {
		t.Errorf("the file has %d lines, want %d", strings.Count(file, "\n"), strings.Count(string(want.Body), "\n"))
	}
	p.click(`[data-keep="view-products"]`)
	p.arrive("#/products")
	if columns := p.texts("thead .n"); len(columns) != 2 {
		t.Errorf("the columns of products are %v", columns)
	}
}

// download saves the view in a format.
func (p *tab) download(t *testing.T, format string) string {
	t.Helper()
	dir := t.TempDir()
	call(p, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID})
	p.click(fmt.Sprintf(`[data-keep="save-%s"]`, format))
	p.says("#said", "Saved as "+format)
	for end := time.Now().Add(harness.Patience); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "*."+format)); len(found) > 0 {
			if content, err := os.ReadFile(found[0]); err == nil && len(content) > 0 {
				return string(content)
			}
		}
	}
	t.Fatalf("no %s was saved", format)
	return ""
}

func TestFiguresAndListsLeadToEachOther(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	markets := answer(t, h.client(h.key), "/api/v1/marketplaces").list("data")
	begun := "#/campaign-figures?range=last_90_days&marketplaces=" + markets[1]["country_code"].(string) + "&product_ids="
	p := h.tab(t, h.server.Address, begun+
		url.QueryEscape(answer(t, h.client(h.key), byProduct+"&page_size=2").list("data")[1]["product_id"].(string))).signIn(h.key)
	p.click(`[data-keep="side-campaigns"]`)
	p.arrive("#/campaigns")
	if got := p.texts("#views [aria-current]"); len(got) != 1 || got[0] != "Campaigns" {
		t.Errorf("the list is below %v", got)
	}
	listed := answer(t, h.client(h.key), "/api/v1/campaigns?page_size=50&marketplace_id="+markets[1]["marketplace_id"].(string)).list("data")[0]
	p.clickLink("tbody th a", listed["name"].(string))
	p.arrive("#/overview")
	p.isOverview(h, "&campaign_ids="+listed["campaign_id"].(string))
	js[any](p, "(history.back(), null)")
	p.arrive("#/campaigns")
	p.click(`[data-keep="side-campaign-figures"]`)
	p.arrive(begun)
}

// The list next to the figures of one campaign is that of its marketplace, and of its ad
// groups alone.
func TestTheListOfACampaignsAdGroupsIsItsOwn(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	var campaign row
	for _, r := range answer(t, h.client(h.key), byCampaign+"&page_size=all&marketplaces=UK&ad_products=SPONSORED_PRODUCTS").list("data") {
		listed := "/api/v1/ad-groups?marketplace_id=" + r["marketplace_id"].(string) + "&campaign_id=" + r["campaign_id"].(string)
		if api(t, h.client(h.key), listed).Status == 200 {
			campaign = r
			break
		}
	}
	id, market := campaign["campaign_id"].(string), campaign["marketplace_id"].(string)
	p := h.tab(t, h.server.Address, "#/campaign-figures?range=last_90_days&campaign_ids="+id).signIn(h.key)
	p.clickLink("tbody th a", "Ad groups of "+campaign["campaign_name"].(string))
	p.arrive("#/ad-group-figures")
	p.click(`[data-keep="side-ad-groups"]`)
	p.arrive("#/ad-groups")
	if of := p.texts("tbody td:first-of-type"); len(of) == 0 || len(of) != strings.Count(strings.Join(of, " "), id) {
		t.Errorf("ad groups of %q are listed, want those of %s", of, id)
	}
	if got := js[string](p, `document.querySelector('[data-keep="marketplace"]').value`); got != market {
		t.Errorf("the list is of %s, want %s", got, market)
	}

	// A list that has the campaign no more is shown without it.
	p.goTo("#/ad-groups?campaign_id=1&marketplace_id=" + market)
	p.says("#notices", "Shown without this campaign: ")
	if p.count("tbody tr") == 0 || strings.Contains(p.text("#view"), "Of campaign 1 alone") {
		t.Errorf("without the campaign: %.300s", p.text("#view"))
	}
}

// What a report ties to no campaign is a row with words, which leads nowhere.
func TestFiguresOfNoCampaignAreSaidInWords(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("untied")
	need(t, err)
	dir := t.TempDir()
	write := func(name, text string) { need(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	write("profiles.json", `[{"profileId": 9007199254740995, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller"}}]`)
	write("r.report.json", `{"reportId": "r", "profileId": 9007199254740995, "startDate": "2026-01-02", "endDate": "2026-01-02", "generatedAt": "2026-01-04T08:00:00Z", "status": "COMPLETED",
		"configuration": {"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "groupBy": ["advertiser"], "timeUnit": "DAILY", "format": "GZIP_JSON",
		"columns": ["date", "advertisedAsin", "cost", "sales7d", "impressions", "clicks", "purchases7d"]}}`)
	write("r.json", `[{"date": "2026-01-02", "advertisedAsin": "B000000001", "cost": 1.25, "sales7d": 5, "impressions": 100, "clicks": 4, "purchases7d": 1}]`)
	l, err := h.Load("untied", dir)
	need(t, err)
	if l.Code != 0 {
		t.Fatal(l)
	}
	p := h.tab(t, h.server.Address, "#/campaign-figures?range=all_time").signIn(key)
	for fragment, words := range map[string]string{"#/campaign-figures?range=all_time": "Not tied to a campaign", "#/ad-group-figures?range=all_time": "Not tied to an ad group"} {
		p.goTo(fragment)
		p.says("tbody th", words)
		if links := js[int](p, "document.querySelectorAll('table a').length"); links != 0 {
			t.Errorf("%s: %d links", fragment, links)
		}
	}
}
