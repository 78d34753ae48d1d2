package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTheKeyboardAloneIsEnough(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.press(kb.Tab)
	if got := js[string](p, "document.activeElement.id"); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	p.press(kb.Enter)
	if got := js[string](p, "document.activeElement.id + location.hash"); got != "main" {
		t.Errorf("the skip link leads to %q", got)
	}
	p.press(kb.Tab)
	p.do(chromedp.KeyEvent(h.key), chromedp.KeyEvent(kb.Enter))
	p.settled()
	if got := js[string](p, "document.activeElement.textContent"); got != "Overview" {
		t.Errorf("after the key the focus is on %q", got)
	}
	p.walkTo(`[data-keep="measure-spend"]`)
	p.press(kb.ArrowRight)
	p.until("document.querySelector('#timeline-title').textContent === 'Sales by day' && document.activeElement.dataset.keep === 'measure-sales'")
	p.walkTo("[role=slider]")
	days := answer(t, h.client(h.key), "/api/v1/timeline").list("data")
	p.press(kb.ArrowLeft)
	said := js[string](p, "document.activeElement.getAttribute('aria-valuetext')")
	if want := fmt.Sprint(days[len(days)-2]["sales"]); !strings.HasSuffix(bare(said), " "+want) {
		t.Errorf("the chart says %q, want %s", said, want)
	}
	p.walkTo(`[aria-label="By marketplace"]`)
	js[any](p, "(document.getElementById('main').focus(), null)")
	p.walkTo(`[data-keep="view-products"]`)
	p.press(kb.Enter)
	p.until("document.activeElement.textContent === 'Products' && document.activeElement.tagName === 'H1'")
	p.walkTo(`[data-keep="sort-clicks"]`)
	p.press(kb.Enter)
	p.until(`document.querySelector('[aria-sort]').textContent.includes('Clicks') && document.activeElement.dataset.keep === 'sort-clicks'`)
	p.walkTo(`[data-keep="Next"]`)
}

// walkTo presses Tab until a place has the focus. Each stop on the way can be
// seen to have it.
func (p *tab) walkTo(selector string) {
	p.t.Helper()
	for range 60 {
		p.press(kb.Tab)
		seen := js[bool](p, `(() => {
			const e = document.activeElement, mark = (n) => n && getComputedStyle(n).outlineStyle !== 'none'
			return mark(e) || mark(e.closest('label'))
		})()`)
		if !seen {
			p.t.Errorf("the focus cannot be seen on %s", p.focused())
		}
		if js[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	p.t.Fatalf("the keyboard does not reach %s; it is on %s", selector, p.focused())
}

// everywhere are the views and states that there are to look at.
var everywhere = []string{
	"#/overview", "#/overview?range=all_time&measure=roas", "#/products", "#/campaign-figures?search=garden", "#/ad-group-figures?figures=spend%2Cacos&compare=previous_period",
	"#/campaigns", "#/ad-groups", "#/rules", "#/apps",
	"#/overview?stack=marketplace&second=acos&compare=previous_period&currency=local", "#/products?currency=local&figures=spend%2Csales_7d",
	"#/activity", "#/overview?timezone=Mars&marketplaces=FR", "#/overview?start_date=2019-01-01&end_date=2019-02-01",
}

func TestNothingIsWiderThanTheScreen(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, width := range []int64{375, 768, 1280} {
		p.do(chromedp.EmulateViewport(width, 900))
		for _, fragment := range everywhere {
			p.goTo(fragment)
			if wide := js[int64](p, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s is %d wide on a screen of %d", fragment, wide, width)
			}
		}
	}
}

func TestAxeFindsNoFault(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is missing: run npm ci in integration/browser (make test does): %v", err)
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := h.tab(t, h.server.Address, "")
			call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			js[chromedp.Void](p, string(axe)+";null")
			p.axe("the key's form")
			p.typeKey("nonsense")
			p.says("#key-fault", "misspelt")
			p.axe("a refused key")
			js[any](p, "(document.getElementById('key').value = '', null)")
			p.signIn(h.key)
			for _, fragment := range everywhere {
				p.goTo(fragment)
				js[chromedp.Void](p, "document.querySelectorAll('details').forEach((d) => { d.open = true })")
				p.axe(fragment)
			}
		})
	}
}

// axe runs the checker over what is shown now.
func (p *tab) axe(what string) {
	p.t.Helper()
	found := js[string](p, `axe.run(document, {resultTypes: ['violations']}).then(({violations, testEngine}) => JSON.stringify({
		engine: testEngine.name, violations: violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary).join('; '))}))`)
	var result struct {
		Engine     string
		Violations []string
	}
	need(p.t, json.Unmarshal([]byte(found), &result))
	if result.Engine != "axe-core" {
		p.t.Fatalf("%s: axe did not run: %s", what, found)
	}
	for _, violation := range result.Violations {
		p.t.Errorf("%s: %s", what, violation)
	}
}

// What a key was pressed on may be gone or off afterwards: the focus is then next to
// it, or on the heading.
func TestTheFocusIsNeverLost(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	enter := func(selector, after, want string) {
		t.Helper()
		js[any](p, fmt.Sprintf("(document.querySelector(%q).focus(), null)", selector))
		p.press(kb.Enter)
		p.until(after)
		p.settled()
		if got := js[string](p, "document.activeElement.dataset.keep ?? document.activeElement.tagName"); got != want {
			t.Errorf("after %s the focus is on %s, want %s", selector, got, want)
		}
	}
	enter(`[data-keep="Last"]`, "document.querySelector('[data-keep=Next]').disabled", "First")
	enter(`[data-keep="First"]`, "document.querySelector('[data-keep=First]').disabled", "Next")
	enter(`[data-keep="Next"]`, "location.hash.includes('page=2')", "Next")
	id := fmt.Sprint(answer(t, h.client(h.key), "/api/v1/reports/products?ad_products=SPONSORED_PRODUCTS").list("data")[0]["product_id"])
	p.goTo("#/products?product_ids=" + id)
	enter(".narrowed button", "location.hash === '#/products'", "H1")
	p.goTo("#/products?page=x")
	enter(`[data-keep="retry"]`, "document.querySelector('.failed')", "retry")
	enter(`[data-keep="plain-view"]`, "location.hash === '#/products'", "H1")
	p = h.tab(t, h.server.Address, "#/products?page=x").signIn(h.key) // with no view before
	enter(`[data-keep="retry"]`, "document.querySelector('.failed')", "retry")
}

func TestAnotherViewBeginsAtItsTop(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaign-figures").signIn(h.key)
	p.do(chromedp.EmulateViewport(390, 700))
	js[any](p, "(document.querySelector('#view tbody tr:last-child a').focus(), null)")
	p.until("scrollY > 300")
	p.press(kb.Enter)
	p.until("document.activeElement.textContent === 'Overview'")
	if at := js[float64](p, "scrollY"); at != 0 {
		t.Errorf("its first %v pixels are out of sight", at)
	}
	js[any](p, "(history.back(), null)")
	p.until("location.hash === '#/campaign-figures' && document.activeElement.textContent === 'Campaigns'")
	if at := js[float64](p, "scrollY"); at == 0 {
		t.Error("Back leads to the top, and not to the row")
	}
}

func TestAListOfChoicesClosesBehindTheFocus(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products").signIn(h.key)
	js[any](p, "(document.querySelector('.ticks summary').focus(), null)")
	p.press(kb.Enter)
	p.until("document.querySelector('.ticks').open")
	p.press(kb.Tab)
	if !js[bool](p, "document.querySelector('.ticks').open && document.activeElement.type === 'checkbox'") {
		t.Errorf("its first choice is not reached, but %s", p.focused())
	}
	js[any](p, "([...document.querySelectorAll('.ticks')][0].querySelector('label:last-child input').focus(), null)")
	p.press(kb.Tab)
	if js[bool](p, "document.querySelector('.ticks').open") {
		t.Errorf("it is open while the focus is on %s", p.focused())
	}
	// The mouse on a choice's words takes the focus from the box before it ticks it.
	p.click(".ticks summary")
	at := js[[]float64](p, "{const r = document.querySelector('.ticks label + label').getBoundingClientRect(); [(r.left + r.right) / 2, (r.top + r.bottom) / 2]}")
	pressing, stop := context.WithTimeout(p.ctx, time.Minute) // the browser never answers where the list closes under the press
	defer stop()
	if _, err := chromedp.Run(pressing, chromedp.MouseClickXY(at[0], at[1])); err != nil {
		t.Fatalf("a press on the words of a choice: %v", err)
	}
	if !js[bool](p, "{const t = document.querySelector('.ticks'); t.open && [...t.querySelectorAll('input')].some((box, i, all) => box.checked !== all[0].checked)}") {
		t.Fatal("a click on the words of a choice ticks nothing, or closes the list")
	}
	p.choose(".controls select", "last_7_days") // before the tick is read
	p.until("location.hash.includes('last_7_days') && location.hash.includes('marketplaces=')")
}

// The arrows of the keyboard go through all choices of a select: only the last one is read.
func TestASelectIsReadOnceItsUserRests(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview").signIn(h.key)
	arrows := func(then string) {
		js[any](p, `{ const select = document.querySelector('.controls label:nth-of-type(3) select')
			for (const value of ['previous_period', 'previous_year']) { select.value = value; select.dispatchEvent(new Event('change')) }`+then+`; null }`)
	}
	before := js[int](p, "history.length")
	arrows("")
	p.until("location.hash.includes('previous_year')")
	p.settled()
	if more := js[int](p, "history.length") - before; more != 1 {
		t.Errorf("it takes %d times Back to leave the choice, want 1", more)
	}
	arrows("document.getElementById('forget').click()") // what is left of a session is no fault
	js[any](p, "new Promise((told) => setTimeout(told, 510))")
}

// What a view lacks is read out once, and not with each sorting.
func TestNoticesAreReadOutOnce(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	const old = "#/products?start_date=2015-01-01&end_date=2015-02-01"
	p := h.tab(t, h.server.Address, old).signIn(h.key)
	p.says("#notices[role=status]", "begins before the oldest day")
	js[any](p, "document.querySelector('.notice').id = 'read', null")
	p.goTo(old + "&sort=clicks")
	if p.count("#read") != 1 {
		t.Errorf("it is read out again: %s", p.text("#notices"))
	}
	p.goTo("#/products")
	if got := p.text("#notices"); got != "" {
		t.Errorf("it is still there: %s", got)
	}
}

// Where the system's colours replace those of the page, backgrounds and shadows are
// gone.
func TestForcedColoursShowWhatIsChosen(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?stack=marketplace").signIn(h.key)
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
	edge := func(selector string) string {
		return js[string](p, fmt.Sprintf("{const s = getComputedStyle(document.querySelector(%q)); s.borderBottom}", selector))
	}
	for chosen, other := range map[string]string{".total:has(:checked)": ".total:not(:has(:checked))", ".views a[aria-current]": ".views a:not([aria-current])"} {
		if edge(chosen) == edge(other) {
			t.Errorf("%s and %s both have %s", chosen, other, edge(chosen))
		}
	}
	if colours := js[[]string](p, "[...new Set([...document.querySelectorAll('.legend [class*=part-]')].map((key) => getComputedStyle(key).backgroundColor))]"); len(colours) != 3 {
		t.Errorf("the legend of three marketplaces has the colours %q", colours)
	}
	p.goTo("#/campaigns")
	if edge("#view .segments [aria-current]") == edge("#view .segments a:not([aria-current])") {
		t.Error("the list that is shown looks like the other")
	}
}
