package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

func TestAnEmptyAccountIsSaidToBeEmpty(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("empty")
	need(t, err)
	p := h.tab(t, h.server.Address, "").signIn(key)
	p.says("#notices", "holds no figures yet")
	for fragment, text := range map[string]string{"#/products": "No product has figures", "#/campaign-figures": "No campaign has figures", "#/ad-group-figures": "No ad group has figures", "#/campaigns": "no marketplace", "#/ad-groups": "no marketplace", "#/rules": "no rules", "#/activity": "Nothing was done"} {
		p.goTo(fragment)
		p.says("#view", text)
	}
}

func TestACanceledSubscriptionIsExplained(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("canceled")
	need(t, err)
	if r := h.Run("account", "set", "canceled", "--subscription", "canceled"); r.Code != 0 {
		t.Fatal(r)
	}
	p := h.tab(t, h.server.Address, "").signIn(key)
	p.says("#view .failed", "subscription is canceled")
	p.says("#who", "Account canceled")
	if link := js[string](p, "document.querySelector('#view .failed a').pathname"); link != "/docs/errors/subscription_inactive" {
		t.Errorf("the error leads to %s", link)
	}
}

func TestFaultsOfARequestAreAllShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?timezone=Mars&marketplaces=FR").signIn(h.key)
	p.says("#view .failed", `"Mars" is not known here`)
	p.says("#view .failed", "the connected marketplaces are: DE, UK, US")
	p.goTo("#/overview?start_date=2020-01-01&end_date=2024-01-31")
	p.says("#notices", "begins before the oldest day that is held")
	p.goTo("#/runs?rule_id=nobodys%2Frule")
	p.says("#view .failed", "Not found")
}

// An engine whose log cannot be written is not started again.
func TestAStoppedEngineIsSaidAndTheServerAskedAgain(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	program, err := harness.New(t.TempDir())
	need(t, err)
	key, err := program.Account("acct")
	need(t, err)
	server, err := program.Serve("--answer-cache", "0")
	need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	p := h.tab(t, server.Address, "#/activity").signIn(key)
	log := filepath.Join(program.DataDir, "engine", "engine.log")
	need(t, os.Rename(log, log+".away"))
	need(t, os.Mkdir(log, 0o700))
	need(t, program.KillEngine())
	js[any](p, "(location.hash = '#/rules', null)")
	p.says("#said", "The page asks again by itself")
	p.says("#view .failed", "database cannot be reached")
	if asked := strings.Count(fmt.Sprint(p.asked()), "/api/v1/rules"); asked != 3 {
		t.Errorf("it asked %d times, expected 3", asked)
	}
	need(t, os.Remove(log))
	p.click(".failed button")
	p.until("document.querySelector('#view h1')?.textContent === 'Rules'")
}

// conditionsParams sends `offline` twice: Chromium 148 requires it outside of the
// conditions too, and the generated parameters have it only inside.
type conditionsParams struct {
	Offline bool                  `json:"offline"`
	Matched []*network.Conditions `json:"matchedNetworkConditions"`
}

var emulateConditions = cdp.Command[conditionsParams, network.EmulateNetworkConditionsByRuleResult]{Method: network.CommandEmulateNetworkConditionsByRule}

// setOffline takes the network away, or brings it back.
func (p *tab) setOffline(yes bool) {
	p.t.Helper()
	call(p, emulateConditions, conditionsParams{Offline: yes,
		Matched: []*network.Conditions{{URLPattern: "", Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}}})
}

func TestAServerThatIsGoneIsSaidToBe(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	p.setOffline(true)
	p.goTo("#/rules")
	p.says("#view .failed", "cannot be reached")
	p.setOffline(false)
	p.until("(document.querySelector('.failed button')?.click(), document.querySelector('#view h1')?.textContent === 'Rules')")
}

func TestAPageWithoutItsProgramSaysSo(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	const late = "document.querySelector('.late').checkVisibility({visibilityProperty: true})"
	p.until("document.querySelector('#key-form button')?.disabled === false")
	if js[bool](p, late) {
		t.Error("a page that works says that a part is missing")
	}
	call(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/page/api.js", Block: true}}})
	p.load(chromedp.Reload())
	p.until(late)
	if text := p.text(".late"); !strings.Contains(text, "load it again") {
		t.Errorf("the page says %q", text)
	}
}

// The limit's minute is real; only the page's clock is put ahead.
func TestTheLimitIsWaitedForAndSaid(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("busy")
	need(t, err)
	server, err := h.Serve("--limit-minute", "4")
	need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	p := h.tab(t, server.Address, "")
	p.everScripted("{const now = performance.now.bind(performance); window.ahead = 0; performance.now = () => now() + window.ahead}")
	p.signIn(key) // all four that are let in
	js[any](p, "(location.hash = '#/rules', null)")
	p.says("#said .waiting", "limit of requests per minute is reached")
	if seconds := js[int](p, "parseInt(document.querySelector('[data-clock]').textContent)"); seconds < 1 || seconds > 60 {
		t.Errorf("it says that it waits %d s", seconds)
	}
	before := len(p.asked())
	js[any](p, "window.ahead = 20_000, new Promise((over) => setTimeout(() => over(null), 1500))")
	if again := p.asked()[before:]; len(again) != 0 {
		t.Errorf("before its time it asked %v", again)
	}
	js[any](p, "(window.ahead = 61_000, null)")
	p.until("performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/api/v1/rules?page_size=all')).length === 2")
	p.says("#said .waiting", "limit of requests")
	p.click("#forget")
	p.until("document.querySelector('#said').textContent.includes('signed out')")
}

// Another client of the account, such as a sheet, still gets in while a user clicks
// as fast as the page can.
func TestThePageLeavesAThirdOfTheLimitToOthers(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("shared")
	need(t, err)
	server, err := h.Serve("--limit-minute", "12")
	need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	p := h.tab(t, server.Address, "").signIn(key)
	for i := range 12 {
		js[any](p, fmt.Sprintf("(location.hash = '#/%s?n=%d', new Promise((over) => setTimeout(() => over(null), 300)))", []string{"rules", "activity", "products"}[i%3], i))
	}
	p.says("#said .waiting", "left to other clients")
	for i := range 3 {
		if a, err := (harness.Client{Address: server.Address, Key: key}).Get("/api/v1/account"); err != nil || a.Status != 200 {
			t.Errorf("request %d of another client: %s, %v", i+1, a, err)
		}
	}
}

func TestTextsOfAnAccountAreTextsOnly(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("hostile")
	need(t, err)
	const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>"'&lt;`
	dir := t.TempDir()
	write := func(name, text string) { need(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	write("profiles.json", `[{"profileId": 9007199254740993, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller"}}]`)
	write("rules.ndjson", fmt.Sprintf(`{"rule_id": "r", "name": %q, "status": "on", "scope": {"marketplaces": ["US"], "campaign_ids": null}, "schedule": {"frequency": "daily", "time": "05:00", "timezone": "UTC"}, "edited_at": "2026-01-01T00:00:00.000Z"}
{"rule_id": "all", "name": "Everywhere", "status": "on", "scope": {"marketplaces": null, "campaign_ids": null}, "schedule": {"frequency": "daily", "time": "05:00", "timezone": "UTC"}, "edited_at": "2026-01-01T00:00:00.000Z"}`, evil)+"\n")
	l, err := h.Load("hostile", dir)
	need(t, err)
	if l.Code != 0 {
		t.Fatal(l)
	}
	p := h.tab(t, h.server.Address, "#/rules").signIn(key)
	p.says("#view", evil)
	p.says("#view", "All marketplaces")
	if made := js[int](p, "document.querySelectorAll('#view img, #view script').length"); made != 0 {
		t.Errorf("a text became %d elements", made)
	}
	p.goTo("#/campaigns")
	p.says("#view", "9007199254740993")
}

// holdBack has requests with a text in their address wait until release is called.
func (p *tab) holdBack(text string) (release func()) {
	p.t.Helper()
	p.everScripted(fmt.Sprintf(`{
		const send = window.fetch, held = new Promise((release) => { window.release = release })
		window.fetch = async (address, options) => {
			if (address.includes(%q)) await held
			options?.signal?.throwIfAborted()
			return send(address, options)
		}
	}`, text))
	return func() { js[any](p, "(window.release(), null)") }
}

func TestADownloadGoesOnBesideAnotherView(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_7_days")
	release := p.holdBack("format=csv")
	p.signIn(h.key)
	p.click(`[data-keep="save-csv"]`)
	p.says("#said", "Fetching")
	p.goTo("#/rules")
	release()
	p.says("#said", "Saved as csv")
}

func TestWhatIsShownAgainIsNotBusy(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/rules")
	release := p.holdBack("/reports/products")
	p.signIn(h.key)
	js[any](p, "(location.hash = '#/products', null)")
	p.until("document.getElementById('view').getAttribute('aria-busy') === 'true'")
	js[any](p, "(history.back(), null)")
	p.arrive("#/rules")
	release()
}

// A module that was lost on its way is not asked for again by the browser, and the page
// would have no program.
func TestAPageThatLostAModuleOnItsWayLoadsItselfAgain(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.everScripted("const later = setTimeout; window.setTimeout = (does, after) => after === 2000 ? (window.again = does) : later(does, after)")
	p.do(chromedp.Navigate("about:blank"))
	call(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/page/dom.js", Block: true}}})
	p.load(chromedp.Navigate(h.server.Address))
	p.until("window.again")
	if !js[bool](p, "document.querySelector('#key-form button').disabled") {
		t.Error("the page has its program without a module of it")
	}
	call(p, network.SetBlockedURLs, network.SetBlockedURLsParams{})
	js[any](p, "(again(), null)")
	p.signIn(h.key)
}
