package browser_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The search of the documentation finds words anywhere, and leads there and back.
func TestTheDocumentationIsSearchedAndLeadsBack(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	need(t, err)
	p := h.tab(t, h.server.Address, "docs/formats")
	p.do(chromedp.EmulateViewport(390, 800))
	js[chromedp.Void](p, "document.querySelector('header input').focus()")
	p.do(chromedp.KeyEvent("rate_limited\r"))
	p.until("location.pathname === '/docs/search' && document.querySelector('#words')?.value === 'rate_limited'")
	p.until("document.querySelector('#places a[href=\"/docs/errors/rate_limited\"]')")
	all := js[int](p, "document.querySelectorAll('#places li').length")
	if said := p.text("#count"); !strings.HasSuffix(said, " places") || all == 0 || all > 40 {
		t.Errorf("%d places are shown, and the page says %q", all, said)
	}
	js[chromedp.Void](p, "(() => { const f = document.querySelector('#words'); f.focus(); f.select() })()")
	p.do(chromedp.KeyEvent("conversion_rate"))
	p.until("[...document.querySelectorAll('#places a')].some((a) => a.getAttribute('href').startsWith('/docs/figures'))")
	js[chromedp.Void](p, "document.querySelector('#words').select()")
	p.do(chromedp.KeyEvent("xyzzy"))
	p.says("#count", "Nothing was found")
	js[chromedp.Void](p, "document.querySelector('#words').select()")
	p.do(chromedp.KeyEvent("samples go"))
	p.until("document.querySelector('#places a')?.textContent === 'Samples'")
	js[chromedp.Void](p, string(axe)+";null")
	p.axe("the search")
	if wide := js[int64](p, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the search is %d wide on a screen of 390", wide)
	}
	js[chromedp.Void](p, "document.querySelector('#places a').click()")
	p.until("location.pathname.startsWith('/docs/reference/') && location.hash === '#samples'")
	p.until(`document.querySelector('main')?.innerText.includes('"` + h.server.Address + `/api/v1/')`)
	js[chromedp.Void](p, string(axe)+";null")
	p.axe("a page of the reference")
	js[chromedp.Void](p, "document.querySelector('header .back a').click()")
	p.until("location.pathname === '/' && document.querySelector('#key-form')")
}
