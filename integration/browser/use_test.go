package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"adlens/integration/harness"
)

func TestTheFirstViewTakesFourRequestsAndTheNextOnesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	same(t, "the first view", p.asked(), []string{"/api/v1/account", "/api/v1/marketplaces", "/api/v1/summary?range=last_30_days", "/api/v1/timeline?range=last_30_days"})
	p.press(kb.Tab)
	js[any](p, `(document.querySelector('[data-keep="measure-roas"]').click(), null)`)
	p.until("document.querySelector('#timeline-title').textContent === 'ROAS by day'")
	if n := len(p.asked()); n != 4 {
		t.Errorf("another figure in the chart took %d requests", n-4)
	}
	p.choose(`[data-keep="granularity"]`, "month")
	p.until("document.querySelector('#timeline-title').textContent === 'ROAS by month'")
	p.click(`[data-keep="again"]`)
	p.settled()
	p.lock.Lock()
	defer p.lock.Unlock()
	if !slices.Contains(p.statuses, 304) {
		t.Errorf("what did not change was not revalidated: %v", p.statuses)
	}
}

// asksAfter reports whether the page requests something at an event in so many minutes.
func (p *tab) asksAfter(minutes int, event string) bool {
	p.t.Helper()
	return js[bool](p, fmt.Sprintf(`(() => {
		const now = Date.now
		Date.now = () => now() + %d * 60_000
		document.dispatchEvent(new Event(%q, {bubbles: true}))
		Date.now = now
		return document.getElementById('view').getAttribute('aria-busy') === 'true'
	})()`, minutes, event))
}

// "Today" of a tab that was left open overnight is yesterday.
func TestATabThatComesBackIntoSightAsksAgain(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=today").signIn(h.key)
	shared := p.share(h)
	shared.showsView()
	for of, sent := range map[*tab]func() []string{p: p.asked, shared: shared.requests} {
		before := len(sent())
		if of.asksAfter(9, "visibilitychange") || !of.asksAfter(11, "visibilitychange") {
			t.Errorf("%s: want requests after eleven minutes, and none after nine", sent()[before-1])
		}
		of.until("document.getElementById('view').getAttribute('aria-busy') === 'false'")
		again := sent()[before:]
		if !slices.ContainsFunc(again, func(address string) bool { return strings.Contains(address, "/reports/products") }) {
			t.Errorf("%v were requested again, want the products", again)
		}
	}
}

// "Today" of a tab that stays in sight over midnight is yesterday, too. The test has the
// minute's clock.
func TestATabThatStaysInSightAsksAgainAfterMidnight(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	const minute = "const every = setInterval; window.setInterval = (does, after) => after === 60_000 ? (window.minute = does) : every(does, after)"
	p, shared := h.scriptedTabs(t, "#/products?range=today&timezone=Asia/Tokyo", minute)
	// asks reports whether the page requests something in the minute after so many hours.
	asks := func(of *tab, hours int) bool {
		t.Helper()
		is := js[bool](of, fmt.Sprintf(`(() => {
			const now = Date.now
			Date.now = () => now() + %d * 3_600_000
			minute()
			Date.now = now
			return document.getElementById('view').getAttribute('aria-busy') === 'true'
		})()`, hours))
		of.until("document.getElementById('view').getAttribute('aria-busy') === 'false'")
		return is
	}
	for name, of := range map[string]*tab{"the page": p, "a share link": shared} {
		if asks(of, 0) || !asks(of, 24) {
			t.Errorf("%s: want requests on another day, and none on the same", name)
		}
		js[any](of, "(Object.defineProperty(document, 'hidden', {value: true, configurable: true}), null)")
		if asks(of, 24) {
			t.Errorf("%s requests out of sight", name)
		}
		js[any](of, "(delete document.hidden, null)")
	}
	for what, selector := range map[string]string{"a search that is typed": "[type=search]", "the command of a share link": `[data-keep="share"] summary`, "a list of choices": ".ticks summary"} {
		p.click(selector)
		if asks(p, 24) {
			t.Errorf("it takes %s away", what)
		}
		p.click("#view h1")
		js[any](p, "(document.querySelectorAll('#view details[open]').forEach((open) => { open.open = false }), null)")
	}
	p.choose(".controls select", "custom")
	if asks(p, 24) {
		t.Error("it takes dates that are typed away")
	}
	p.goTo("#/overview?range=last_30_days&timezone=Asia/Tokyo")
	for what, selector := range map[string]string{"a table that is open": ".card > details > summary", "a choice that is open": "[data-keep=second]"} {
		p.click(selector)
		if asks(p, 24) {
			t.Errorf("it takes %s away", what)
		}
		js[any](p, "(document.querySelectorAll('#view details[open]').forEach((open) => { open.open = false }), null)")
		p.press(kb.Escape)
		if !asks(p, 24) {
			t.Errorf("it requests nothing once %s is left", what)
		}
	}
	p.goTo("#/products?range=today&timezone=Asia/Tokyo")
	p.click("[type=search]")
	p.press("l", "a")
	p.click("#view h1")
	if asks(p, 24) {
		t.Error("it takes a search that is typed and left away")
	}
}

// Clocks of a browser and its server differ by seconds or minutes: what was answered
// around midnight is requested once more after five minutes, and then not again.
func TestMidnightIsLateForClocksThatDiffer(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=today&timezone=Asia/Tokyo")
	p.everScripted(`{
		const every = setInterval, named = Date.prototype.toLocaleDateString
		window.setInterval = (does, after) => after === 60_000 ? (window.minute = does) : every(does, after)
		window.clock = '14:59:58'
		Date.now = () => Date.parse('2026-11-30T' + clock + 'Z')
		Date.prototype.toLocaleDateString = function (...shape) {
			if (window.zoneless) throw new RangeError('Invalid time zone specified: Asia/Tokyo')
			return named.apply(this, shape)
		}
	}`)
	p.signIn(h.key)
	for _, minute := range []struct {
		clock string
		asks  bool
	}{{"15:00:58", false}, {"15:04:58", false}, {"15:05:58", true}, {"15:06:58", false}} {
		asks := js[bool](p, fmt.Sprintf("(window.clock = %q, minute(), document.getElementById('view').getAttribute('aria-busy') === 'true')", minute.clock))
		p.until("document.getElementById('view').getAttribute('aria-busy') === 'false'")
		if asks != minute.asks {
			t.Errorf("at %s UTC the page requests figures: %t, want %t", minute.clock, asks, minute.asks)
		}
	}
	js[any](p, "(window.zoneless = true, minute(), null)") // a browser need not know each zone of the server
}

// A laptop that wakes up is in sight before its network is there.
func TestATabWithoutNetworkKeepsWhatItShows(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=today").signIn(h.key)
	shared := p.share(h)
	shared.showsView()
	for name, of := range map[string]*tab{"the page": p, "a share link": shared} {
		const isIdle, isShown = "document.getElementById('view').getAttribute('aria-busy') === 'false'", "document.querySelector('[data-keep=again]') && !document.querySelector('.failed')"
		of.setOffline(true)
		if !of.asksAfter(11, "visibilitychange") {
			t.Errorf("%s requests nothing", name)
		}
		of.until(isIdle)
		if !js[bool](of, "Boolean("+isShown+")") {
			t.Errorf("%s says %q in the place of its figures", name, of.text(".failed"))
		}
		of.says("#said", "what is shown may be old")
		of.setOffline(false)
		if !of.asksAfter(11, "online") {
			t.Errorf("%s requests nothing once the network is there", name)
		}
		of.until(isIdle)
		of.setOffline(true)
		of.click("[data-keep=again]")
		of.says(".failed", "cannot be reached")
		of.setOffline(false)
		of.until(isIdle + " && (" + isShown + " || !dispatchEvent(new Event('online')))") // it takes a moment until the network is back
	}
}

// scriptedTabs show a view on the page and below a share link, both with a script that runs
// before their own.
func (h *house) scriptedTabs(t *testing.T, fragment, script string) (page, shared *tab) {
	t.Helper()
	page = h.tab(t, h.server.Address, fragment)
	page.everScripted(script)
	page.signIn(h.key)
	shared = page.share(h)
	shared.everScripted(script)
	shared.showsView()
	return page, shared
}

// A server that fails for a moment takes no view away that runs unattended: the page asks
// again after half an hour, of which the test has the clock: answers count.
func TestATabKeepsWhatItShowsWhereTheServerFails(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	const failing = `{
		const later = setTimeout, send = fetch
		window.setTimeout = (does, after) => after === 1_800_000 ? (window.again = does) : later(does, after)
		window.fetch = async (address, options) => window.failing ? new Response('{"title": "Internal error"}', {status: 500}) : send(address, options)
	}`
	p, shared := h.scriptedTabs(t, "#/products?range=today", failing)
	for name, of := range map[string]*tab{"the page": p, "a share link": shared} {
		js[any](of, "(window.failing = true, null)")
		if !of.asksAfter(11, "visibilitychange") {
			t.Errorf("%s requests nothing", name)
		}
		of.until("document.getElementById('view').getAttribute('aria-busy') === 'false'")
		if of.count(".failed") > 0 {
			t.Fatalf("%s says %q in the place of its figures", name, of.text(".failed"))
		}
		of.says("#said", "what is shown may be old")
		js[any](of, "(window.failing = false, again(), null)")
		of.until("document.getElementById('said').textContent === ''")
	}
}

func TestTheAddressHoldsTheViewAndBackGoesBack(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	p.choose(".controls select", "last_7_days")
	p.click(".ticks summary")
	p.click(`.ticks input[value="UK"]`)
	p.until("location.hash.includes('marketplaces=UK')")
	p.settled()
	p.click(`[data-keep="view-products"]`)
	p.settled()
	if got := js[string](p, "location.hash"); got != "#/products?range=last_7_days&marketplaces=UK" {
		t.Errorf("the fragment is %s", got)
	}
	p.load(chromedp.Reload())
	p.settled()
	want := "/api/v1/reports/products?range=last_7_days&marketplaces=UK&sort=spend&order=desc&page=1&page_size=25"
	if asked := p.asked(); asked[len(asked)-1] != want {
		t.Errorf("after the reload it asked for %s, want %s", asked[len(asked)-1], want)
	}
	for _, before := range []string{"#/overview?range=last_7_days&marketplaces=UK", "#/overview?range=last_7_days"} {
		js[any](p, "(history.back(), null)")
		p.until(fmt.Sprintf("location.hash === %q", before))
		p.settled()
	}
	if got := p.text("#view h1"); got != "Overview" {
		t.Errorf("Back leads to %s", got)
	}
}

// A user who changes their mind sees the last choice, whatever the order in which
// answers come.
func TestWhatIsSupersededIsNotShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	js[chromedp.Void](p, `(async () => {
		for (const range of ['all_time', 'last_90_days', 'this_year', 'yesterday', 'last_7_days']) {
			location.hash = '#/overview?range=' + range
			await new Promise((next) => setTimeout(next))
		}
	})()`)
	p.settled()
	same(t, "the last choice", bares(p.texts("[data-figure]")), answer(t, h.client(h.key), "/api/v1/summary?range=last_7_days").figures())
}

func TestTheRequestBehindAViewWorksAsItIsShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=last_month&marketplaces=DE%2CUS").signIn(h.key)
	for _, which := range []string{"summary", "timeline"} {
		js[chromedp.Void](p, fmt.Sprintf(`{const s = document.querySelector('[data-keep="which"]'); s.value = %q; s.dispatchEvent(new Event('change'))}`, which))
		line := strings.ReplaceAll(js[string](p, "document.querySelector('#elsewhere pre').textContent"), "YOUR_API_KEY", h.key)
		said, err := exec.Command("sh", "-c", strings.Replace(line, "curl", "curl -sS", 1)).Output()
		need(t, err)
		want := api(t, h.client(h.key), "/api/v1/"+which+"?range=last_month&marketplaces=DE,US")
		if string(said) != string(want.Body) || want.Status != 200 {
			t.Errorf("curl of %s says %.200s, want %.200s", which, said, want.Body)
		}
	}
	// Of a page of campaigns, everything is taken elsewhere.
	p.goTo("#/campaigns?page_size=25&page=2")
	if line := js[string](p, "document.querySelector('#elsewhere pre').textContent"); !strings.Contains(line, "page_size=1000") || strings.Contains(line, "page=2") {
		t.Errorf("curl of campaigns: %s", line)
	}
	p.goTo("#/overview?range=last_month&marketplaces=DE%2CUS")
	for _, tool := range []string{"powerquery", "pandas", "sheets", "feed"} {
		p.click(fmt.Sprintf(`[data-keep="recipe-%s"]`, tool))
		text := js[string](p, "document.querySelector('#elsewhere pre').textContent")
		if !strings.Contains(text, "DE") || strings.Contains(text, h.key) {
			t.Errorf("%s: %s", tool, text)
		}
		switch tool {
		case "sheets":
			mustFillASheet(t, h, text)
		case "feed":
			mustMakeAFeed(t, h, h.key, text, "/api/v1/timeline?range=last_month&marketplaces=DE,US&format=csv")
		}
	}
}

// The button shows and copies the script, whatever tool was shown.
func TestTheButtonForGoogleSheetsGivesTheScript(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_7_days").signIn(h.key)
	p.click(`[data-keep="to-sheets"]`)
	p.says("#said", "Extensions, Apps Script")
	text := js[string](p, "document.querySelector('#elsewhere pre').textContent")
	if !strings.Contains(text, "'adlens products figures': '/reports/products?range=last_7_days&") || !js[bool](p, `document.querySelector('[data-keep="recipe-sheets"]').checked`) {
		t.Errorf("the page shows %s", text)
	}
	mustFillASheet(t, h, text)
}

// mustFillASheet runs the page's script for Google Sheets, whose numbers have to
// be numbers: a text is read by the rules of the sheet's country.
func mustFillASheet(t *testing.T, h *house, script string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "script.js")
	need(t, os.WriteFile(file, []byte(script), 0o600))
	out, err := exec.CommandContext(t.Context(), "node", "../recipes/sheets.mjs", file, filepath.Join(dir, "book.json"),
		"open", "prompt:"+h.key, "menu:Enter the key", "menu:Refresh").CombinedOutput()
	var wrote struct {
		Sheets map[string]struct{ Rows [][]any }
		Errors []string
	}
	if jsonErr := json.Unmarshal(out, &wrote); err != nil || jsonErr != nil || len(wrote.Sheets) != 1 || len(wrote.Errors) > 0 {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	for _, sheet := range wrote.Sheets {
		if len(sheet.Rows) < 2 {
			t.Fatalf("the sheet has %v", sheet.Rows)
		}
		if _, number := sheet.Rows[1][slices.Index(sheet.Rows[0], any("spend"))].(float64); !number {
			t.Errorf("spend is no number in %v", sheet.Rows[1])
		}
	}
}

// mustMakeAFeed runs the page's command for a feed link, which must answer as the
// request does with the key.
func mustMakeAFeed(t *testing.T, h *house, key, text, request string) {
	t.Helper()
	command, _, _ := strings.Cut(text, "\n\n")
	shell := exec.CommandContext(t.Context(), "sh", "-ec", "adlens() { '"+h.Bin+"' --data-dir '"+h.DataDir+"' \"$@\"; }\n"+command)
	out, err := shell.Output()
	need(t, err)
	link := strings.TrimSpace(string(out))
	if got, want := api(t, h.client(""), strings.TrimPrefix(link, h.server.Address)), api(t, h.client(key), request); got.Status != 200 || string(got.Body) != string(want.Body) {
		t.Errorf("%s answers %.200s, want %.200s", link, got, want)
	}
	if !strings.Contains(text, `=IMPORTDATA("`+h.server.Address+`/feed/feed_...")`) {
		t.Errorf("there is no formula in %s", text)
	}
}

// A key for some marketplaces makes a feed of these alone.
func TestAKeyForSomeMarketplacesMakesAFeedOfThoseAlone(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Key("demo", "--marketplaces", "UK,DE")
	need(t, err)
	p := h.tab(t, h.server.Address, "#/overview?range=last_month").signIn(key)
	p.click(`[data-keep="recipe-feed"]`)
	mustMakeAFeed(t, h, key, js[string](p, "document.querySelector('#elsewhere pre').textContent"), "/api/v1/summary?range=last_month&format=csv")
}

// Each format is saved with the API's bytes; what the server refuses is shown.
func TestAViewIsSavedAsTheServerAnswersIt(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_7_days").signIn(h.key)
	dir := t.TempDir()
	call(p, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID})
	for _, format := range []string{"json", "csv", "xlsx", "parquet", "ndjson"} {
		want := api(t, h.client(h.key), "/api/v1/reports/products?range=last_7_days&page_size=all&format="+format)
		p.click(fmt.Sprintf(`[data-keep="save-%s"]`, format))
		if want.Status != 200 {
			p.says("#said", "Not saved")
			continue
		}
		p.says("#said", "Saved as "+format)
		var got []byte
		for end := time.Now().Add(harness.Patience); string(got) != string(want.Body) && time.Now().Before(end); <-time.After(20 * time.Millisecond) {
			if found, _ := filepath.Glob(filepath.Join(dir, "*."+format)); len(found) > 0 {
				got, _ = os.ReadFile(found[0])
			}
		}
		if string(got) != string(want.Body) {
			t.Errorf("%s: saved %d bytes, the API answers %d others", format, len(got), len(want.Body))
		}
	}
}

// Refresh also asks for the marketplaces. What is chosen until they come is not
// covered by the view of before, and the refresh is begun once more.
func TestWhatIsChosenDuringARefreshStays(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.everScripted(`{const real = fetch; window.asked = []; window.fetch = (to, how) => window.asked.push(String(to)) && !window.holding || !String(to).includes('/marketplaces') ? real(to, how)
		: new Promise((_, refuse) => { window.held = true; how.signal.addEventListener('abort', () => refuse(how.signal.reason)) })}`)
	p.signIn(h.key)
	js[any](p, `(window.holding = true, document.querySelector('[data-keep="again"]').click(), null)`)
	p.until("window.held")
	js[any](p, `(window.holding = false, window.asked = [], document.querySelector('[data-keep="measure-roas"]').click(), null)`)
	p.until("location.hash === '#/overview?measure=roas'")
	p.until("window.asked.some((to) => to.includes('/timeline'))")
	p.settled()
	if got := p.text("#timeline-title"); got != "ROAS by day" {
		t.Errorf("the chart shows %s, and the address has ROAS", got)
	}
}
