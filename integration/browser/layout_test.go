package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// compared are views with a comparison, of which each cell has a text that only
// screen readers see.
var compared = []string{"#/overview?compare=previous_period&stack=marketplace&second=acos", "#/products?range=last_90_days&compare=previous_year", "#/campaign-figures?compare=previous_period&currency=local"}

func TestNothingScrollsSidewaysOnAPhone(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 2, Mobile: true})
	for _, fragment := range compared {
		p.goTo(fragment)
		js[chromedp.Void](p, "document.querySelectorAll('details:not(.ticks)').forEach((d) => { d.open = true })")
		if wide := js[int](p, "document.documentElement.scrollWidth"); wide != 390 {
			t.Errorf("%s is %d wide on a screen of 390", fragment, wide)
		}
	}
	p.goTo("#/products")
	for _, width := range []int64{390, 768, 1000, 1280, 1400} {
		p.do(chromedp.EmulateViewport(width, 844))
		js[chromedp.Void](p, "{[...document.querySelectorAll('.ticks')].at(-1).open = true}")
		if wide := js[int64](p, "document.documentElement.scrollWidth"); wide > width {
			t.Errorf("the choice of columns is %d wide on a screen of %d", wide, width)
		}
	}
}

// At 400 % zoom a screen has 320 pixels.
func TestFiguresAndNamesFitAtHighZoom(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("wordy")
	need(t, err)
	if r := h.Run("account", "set", "wordy", "--name", strings.Repeat("Gesellschaft", 6)); r.Code != 0 {
		t.Fatal(r)
	}
	p := h.tab(t, h.server.Address, "").signIn(key)
	p.do(chromedp.EmulateViewport(320, 640))
	if wide := js[int](p, "document.documentElement.scrollWidth"); wide > 320 {
		t.Errorf("with a long name the page is %d wide", wide)
	}
	p.click("#forget")
	p.signIn(h.key)
	p.goTo("#/overview?range=all_time")
	broken := js[[]string](p, `[...document.querySelectorAll('[data-figure]')].filter((figure) => {
		const text = document.createRange()
		text.selectNodeContents(figure)
		return text.getClientRects().length > 1
	}).map((figure) => figure.textContent)`)
	if len(broken) > 0 {
		t.Errorf("these figures are on two lines: %q", broken)
	}
}

// U+202E turns around what follows it.
func TestANameFromRightToLeftLeavesIdsInOrder(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaign-figures").signIn(h.key)
	link := `#view tbody th > a`
	id := js[string](p, fmt.Sprintf("new URLSearchParams(document.querySelector(%q).hash.split('?')[1]).get('campaign_ids')", link))
	p.click(link)
	p.until("document.querySelector('.narrowed bdi')?.textContent")
	places := js[[]float64](p, `{
		document.querySelector('.narrowed bdi').textContent = 'a \u202e b'
		const text = document.querySelector('.narrowed .id').firstChild
		const at = (i) => { const one = document.createRange(); one.setStart(text, i); one.setEnd(text, i + 1); return one.getBoundingClientRect().left };
		[at(0), at(text.length - 1)]
	}`)
	if places[0] >= places[1] {
		t.Errorf("the digits of %s run from %v to %v", id, places[0], places[1])
	}
}

func TestPrintingCutsNoColumn(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	const paper = 980 // pixels of a Letter sheet in landscape without its margins; A4 is wider
	p.do(chromedp.EmulateViewport(paper, 720))
	for _, fragment := range append([]string{"#/overview?range=all_time", "#/campaigns"}, compared...) {
		p.goTo(fragment)
		js[chromedp.Void](p, "document.querySelectorAll('details:not(.ticks)').forEach((d) => { d.open = true })")
		cut := js[[]string](p, fmt.Sprintf(`[...document.querySelectorAll('#view th, #view td')].filter((cell) => {
			const box = cell.closest('.scroll')
			return cell.getBoundingClientRect().right > %d || getComputedStyle(box).overflowX !== 'visible' || getComputedStyle(box).maxHeight !== 'none'
		}).slice(0, 3).map((cell) => cell.textContent)`, paper))
		if len(cut) > 0 {
			t.Errorf("%s: the paper ends before %q", fragment, cut)
		}
		if hidden := js[[]string](p, `[...document.querySelectorAll('#view thead th')].filter((th) => th.innerText.trim() === '').map((th) => th.textContent)`); len(hidden) > 0 || p.count("#view thead") == 0 {
			t.Errorf("%s prints no %q", fragment, hidden)
		}
	}
}

func TestPaperHasTotalsOnceAndWholeLines(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days&ad_products=SPONSORED_PRODUCTS&marketplaces=DE,UK,US&page_size=100").signIn(h.key)
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.do(chromedp.EmulateViewport(700, 980))
	js[any](p, "(document.querySelector('.share').open = true, null)")
	if display := js[string](p, "getComputedStyle(document.querySelector('#view tfoot')).display"); display != "table-row-group" {
		t.Errorf("the total is a %s, which each sheet repeats", display)
	}
	const cut = "[...document.querySelectorAll('pre')].filter((pre) => pre.checkVisibility() && pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent.slice(0, 60))"
	if lines := js[[]string](p, cut); len(lines) > 0 {
		t.Errorf("these lines are cut: %q", lines)
	}
	p.goTo("#/overview")
	if rows := js[int](p, "new Set([...document.querySelectorAll('.total')].map((total) => total.offsetTop)).size"); rows != 2 {
		t.Errorf("the totals are in %d rows, which leave the chart no place on their sheet", rows)
	}
	p.load(chromedp.Navigate(h.server.Address + "/docs/recipes/google-sheets"))
	if lines := js[[]string](p, cut); len(lines) > 0 || p.count("pre") == 0 {
		t.Errorf("of the recipe these lines are cut: %q", lines)
	}
}

func TestHeadersStayInSight(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days&page_size=100").signIn(h.key)
	for _, width := range []int64{390, 1280} {
		p.do(chromedp.EmulateViewport(width, 844))
		seen := js[[]float64](p, `(() => {
			const region = document.querySelector('#view .scroll')
			region.scrollIntoView()
			region.scrollTo(region.scrollWidth, region.scrollHeight)
			const place = (e) => e.getBoundingClientRect()
			const corner = region.querySelector('thead th'), last = region.querySelector('thead th:last-child')
			return [place(region).top - place(corner).top, place(region).top - place(last).top, place(corner).left - place(region).left, region.scrollTop, innerHeight - place(region).height]
		})()`)
		if seen[0] < -1 || seen[0] > 1 || seen[1] < -1 || seen[1] > 1 || seen[2] < -2 || seen[3] < 100 || seen[4] < 0 {
			t.Errorf("at %d: the headers are %v from their place", width, seen)
		}
	}
}

// What is tied to no product is no product to compare others with.
func TestBarsOfProductsAreSharesOfTheLargestProduct(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_90_days").signIn(h.key)
	shares := js[[]float64](p, `[...document.querySelectorAll('#view tbody tr')].map((row) => Number(row.querySelector('.bar .share')?.getAttribute('width') ?? -1))`)
	for i, r := range answer(t, h.client(h.key), "/api/v1/reports/products?range=last_90_days&page_size=25").list("data") {
		if isNone := r["product_id"] == nil; isNone != (shares[i] < 0) {
			t.Errorf("row %d, %v: a bar of %v", i+1, r["product_id"], shares[i])
		}
	}
	if shares[0] >= 0 || shares[1] != 100 {
		t.Errorf("the bars are %v, want none for the first row and 100 for the second", shares[:2])
	}
}

func TestAnEmptyListHasNoPages(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?search=nothing-like-this").signIn(h.key)
	p.says("#view", "Nothing was found.")
	if p.count(".pages") != 0 {
		t.Errorf("it has pages: %s", p.text(".pages"))
	}
	p.goTo("#/products?range=last_90_days&page=99")
	p.click(`[data-keep="Previous"]`)
	p.until("document.querySelectorAll('#view tbody tr').length > 0")
}

// A figure under the pointer stands out by its ground alone.
func TestAFigureUnderThePointerIsAsClear(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	const of = "document.querySelector('.total:not(:has(:checked))')"
	styles := func() []string {
		return js[[]string](p, "{const style = getComputedStyle("+of+"), of = (selector) => getComputedStyle("+of+".querySelector(selector)); [style.backgroundColor, of('strong').color, of('strong').fontSize, of('.what').color]}")
	}
	before := styles()
	at := js[[]float64](p, "{const r = "+of+".getBoundingClientRect(); [(r.left + r.right) / 2, (r.top + r.bottom) / 2]}")
	call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]})
	p.until(of + ".matches(':hover')")
	if after := styles(); after[0] == before[0] || !slices.Equal(after[1:], before[1:]) || before[1] == before[3] {
		t.Errorf("ground, figure and name are %q, and %q under the pointer", before, after)
	}
}
