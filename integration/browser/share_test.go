package browser_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// share runs the command that the page shows for a view, and opens the link that it
// prints without a key.
func (p *tab) share(h *house) *tab {
	p.t.Helper()
	command := js[string](p, "document.querySelector('.share code').textContent")
	r := h.Run(shellWords(p.t, command)[1:]...)
	path, printed := strings.CutPrefix(strings.TrimSpace(r.Stdout), h.server.Address)
	if r.Code != 0 || !printed {
		p.t.Fatalf("%s: %s", command, r)
	}
	return openTab(p.t, h.browser, h.server.Address, path, chromedp.WithNewBrowserContext())
}

// shellWords splits a command as a shell does, whose only quotes are single ones.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		fields := strings.Split(part, " ")
		if len(words) > 0 {
			words[len(words)-1] += fields[0]
			fields = fields[1:]
		}
		words = append(words, fields...)
	}
	if slices.Contains(words, "") || words[0] != "adlens" {
		t.Fatalf("the command is %s", command)
	}
	return words
}

// showsView waits until a shared view is there.
func (p *tab) showsView() {
	p.t.Helper()
	js[chromedp.Void](p, "new Promise((told) => setTimeout(told))")
	p.until("document.querySelector('#view h1') && document.getElementById('view').getAttribute('aria-busy') === 'false'")
}

// Each view that can be shared, with all that can be chosen in it.
var shareable = []string{
	"#/overview?range=last_90_days&marketplaces=US,UK&compare=previous_year&measure=roas&granularity=week",
	"#/overview?range=all_time&granularity=day&second=acos", "#/overview?range=this_year&stack=marketplace&measure=sales", "#/overview?range=last_30_days&granularity=week&stack=ad_product",
	"#/products?range=this_year&ad_products=SPONSORED_PRODUCTS&sort=clicks&order=asc&page_size=50&page=2",
	"#/products?range=last_90_days&search=lamp&figures=spend,acos",
	"#/campaign-figures?range=last_90_days&sort=campaign_id&order=asc&compare=previous_period",
	"#/ad-group-figures?range=last_30_days&marketplaces=DE&sort=acos",
	"#/campaigns?states=ENABLED&page_size=25", "#/ad-groups?page_size=25&page=2", "#/rules", "#/activity?tool=rule",
	"#/products?range=last_30_days&currency=local", "#/ad-group-figures?range=last_30_days&marketplaces=UK&currency=local&figures=spend,purchases_7d,sales_7d",
}

func TestASharedViewShowsWhatThePageShows(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, fragment := range shareable {
		p.goTo(fragment)
		shared := p.share(h)
		shared.showsView()
		rows := "#view tbody th > :first-child, #view tbody td.n, #view [data-figure], #view .span, #view .empty"
		got, want := shared.texts(rows), p.texts(rows)
		same(t, fragment, got, want)
		if len(want) == 0 || shared.text("#view h1") != p.text("#view h1") {
			t.Errorf("%s shows %q with %d figures", fragment, shared.text("#view h1"), len(want))
		}
		if others := shared.texts("#view a[href], #view select:not([data-keep='page-size'], [data-keep='second']), #view input:not([name='measure']), header button"); len(others) > 0 {
			t.Errorf("%s leads elsewhere: %q", fragment, others)
		}
		for _, asked := range shared.requests() {
			if path, _ := strings.CutPrefix(asked, h.server.Address); !strings.HasPrefix(path, "/page/") && !strings.HasPrefix(path, "/share/share_") {
				t.Errorf("%s asks for %s", fragment, asked)
			}
		}
		if body := js[string](shared, "document.documentElement.outerHTML"); strings.Contains(body, "Demonstration") || strings.Contains(body, "key_live_") {
			t.Errorf("%s names the account or a key", fragment)
		}
	}
}

// requests are the addresses of all that the tab sent, with what gave them away.
func (p *tab) requests() (all []string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, e := range p.sent {
		all = append(all, e.Request.URL)
		for name, value := range e.Request.Headers {
			if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Referer") && strings.Contains(fmt.Sprint(value), "share_") {
				p.t.Errorf("%s is sent with %s: %v", e.Request.URL, name, value)
			}
		}
	}
	return all
}

func TestTheReaderOfASharedViewTurnsItsPagesAndSortsIt(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days&marketplaces=US&page_size=25").signIn(h.key)
	shared := p.share(h)
	shared.showsView()
	const products = "/api/v1/reports/products?range=last_90_days&marketplaces=US&page_size=25"
	sameRows(t, "at first", shared.table("Products"), answer(t, h.client(h.key), products).list("data"))
	shared.click(`[data-keep="Next"]`)
	shared.says(".pages", "page 2 of")
	sameRows(t, "page 2", shared.table("Products"), answer(t, h.client(h.key), products+"&page=2").list("data"))
	shared.click(`[data-keep="sort-acos"]`)
	shared.until("document.querySelector('[aria-sort]').textContent.includes('ACOS')")
	sameRows(t, "by ACOS", shared.table("Products"), answer(t, h.client(h.key), products+"&sort=acos").list("data"))
	js[any](shared, "(history.back(), null)")
	shared.says(".pages", "page 2 of")
	// Another address of the same link is the same view.
	js[any](shared, "(location.hash = '#/products?range=all_time&marketplaces=DE&page=3', null)")
	shared.says(".pages", "page 3 of")
	sameRows(t, "page 3", shared.table("Products"), answer(t, h.client(h.key), products+"&page=3").list("data"))
	js[any](shared, "(location.hash = '#/rules', null)")
	shared.says(".pages", "page 1 of")
}

func TestASharedViewOfARuleAndItsFaults(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	rule := fmt.Sprint(answer(t, h.client(h.key), "/api/v1/rules").list("data")[0]["rule_id"])
	p := h.tab(t, h.server.Address, "#/runs?rule_id="+rule).signIn(h.key)
	shared := p.share(h)
	shared.showsView()
	same(t, "the runs", shared.texts("#view summary"), p.texts("#view .run > summary"))
	var id string
	for line := range strings.Lines(h.Run("share", "list", "--account", "demo").Stdout) {
		if strings.Contains(line, rule) {
			id = strings.Fields(line)[0]
		}
	}
	if r := h.Run("share", "revoke", id); r.Code != 0 {
		t.Fatal(r)
	}
	shared.until(`(document.querySelector('[data-keep="again"], .failed button')?.click(), document.querySelector('.failed')?.textContent.includes('revoked or expired'))`)
	shared.load(chromedp.Reload())
	shared.says("#fault", "misspelt, revoked or expired")
}

// There are no pickers below a link or on paper: the view says itself what it is of.
func TestASharedAndAPrintedViewSayWhatNarrowsThem(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	campaign := fmt.Sprint(answer(t, h.client(h.key), "/api/v1/report?dimensions=campaign&marketplaces=UK").list("data")[0]["campaign_id"])
	for fragment, want := range map[string]string{
		"#/overview?marketplaces=UK,DE&ad_products=SPONSORED_BRANDS": "Filters: marketplaces DE, UK; ad types Sponsored Brands",
		"#/overview?campaign_ids=" + campaign:                        "Filters: campaigns " + campaign,
		"#/products?range=last_90_days&search=lamp":                  "Filters: search lamp",
		"#/activity?tool=rule":                                       "Filters: operation Rule",
		"#/overview":                                                 "",
	} {
		call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "screen"})
		p.goTo(fragment)
		if js[bool](p, "document.querySelector('#view .limits')?.checkVisibility() ?? false") {
			t.Errorf("%s: beside the pickers the page says %q", fragment, p.text("#view .limits"))
		}
		call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		shared := p.share(h)
		shared.showsView()
		for where, got := range map[string]string{"the link": shared.text("#view .limits"), "paper": p.text("#view .limits")} {
			if got != want {
				t.Errorf("%s: %s says %q, want %q", fragment, where, got, want)
			}
		}
	}
}

// An account without figures has no days to compare: the view is shown without it.
func TestASharedComparisonThatIsRefusedIsLeftOut(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=yesterday&compare=previous_period").signIn(h.key)
	shared := p.share(h)
	shared.showsView()
	shared.says("#view .span", "compared with")
	_, err := h.Account("uncompared")
	need(t, err)
	r := h.Run("share", "create", "--account", "uncompared", "--name", "later", "#/overview?range=all_time&compare=previous_period")
	if r.Code != 0 {
		t.Fatal(r)
	}
	shared = openTab(t, h.browser, h.server.Address, strings.TrimSpace(r.Stdout), chromedp.WithNewBrowserContext())
	shared.showsView()
	shared.says("#notices", "Shown without a comparison")
	if got := shared.text("#view .span"); strings.Contains(got, "compared") {
		t.Errorf("it still compares: %s", got)
	}
}

// A key for some marketplaces shares what it sees.
func TestAKeyForSomeMarketplacesSharesThoseAlone(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Key("demo", "--marketplaces", "UK,DE")
	need(t, err)
	p := h.tab(t, h.server.Address, "#/overview?range=last_90_days").signIn(key)
	shared := p.share(h)
	shared.showsView()
	sameRows(t, "by marketplace", shared.table("By marketplace"), answer(t, h.client(key), "/api/v1/summary?range=last_90_days").list("by_marketplace"))
	if got := shared.text("#view"); !strings.Contains(got, "Germany") || strings.Contains(got, "United States") {
		t.Errorf("it shows %s", got)
	}
}

func TestASharedViewIsAccessible(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is missing: run npm ci in integration/browser (make test does): %v", err)
	}
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, fragment := range []string{shareable[0], shareable[1], "#/campaigns"} {
		p.goTo(fragment)
		shared := p.share(h)
		shared.showsView()
		js[chromedp.Void](shared, string(axe)+";null")
		shared.axe(fragment)
		shared.do(chromedp.EmulateViewport(390, 800))
		if wide := js[int](shared, "document.documentElement.scrollWidth"); wide > 390 && !strings.Contains(fragment, "compare") {
			t.Errorf("%s is %d wide on a screen of 390", fragment, wide)
		}
	}
}
