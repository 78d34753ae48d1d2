package browser_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/integration/harness"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page of a browser context of its own. It notes what was requested
// and what the browser complained about.
type tab struct {
	t       *testing.T
	ctx     context.Context
	address string

	lock     sync.Mutex
	sent     []*network.EventRequestWillBeSent
	statuses []int64 // as the server sent them, 304 among them
	faults   []string
	cutOff   bool // by a change of the network, such as an interface of a container
}

// tab opens the page of a server at a fragment. At the end of the test the
// browser must have had nothing to complain about.
func (h *house) tab(t *testing.T, server, fragment string) *tab {
	t.Helper()
	return openTab(t, h.browser, server, "/"+fragment, chromedp.WithNewBrowserContext())
}

// another opens the page once more in the same browser context, as a second tab of
// the same person.
func (p *tab) another(fragment string) *tab {
	p.t.Helper()
	return openTab(p.t, p.ctx, p.address, "/"+fragment)
}

func openTab(t *testing.T, parent context.Context, server, path string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	p := newTab(t, parent, server, options...)
	call(p, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-US"})
	p.load(chromedp.Navigate(server + path))
	return p
}

// newTab makes a tab, or takes the one that the options name. The locale is left to
// openTab: a pop-up may share the process of its opener, which can have one override.
func newTab(t *testing.T, parent context.Context, server string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	ctx, timeout := context.WithTimeout(ctx, 2*harness.Patience)
	p := &tab{t: t, ctx: ctx, address: server}
	t.Cleanup(func() {
		timeout()
		cancel()
		p.lock.Lock()
		defer p.lock.Unlock()
		for _, fault := range p.faults {
			t.Errorf("the browser complains: %s", fault)
		}
	})
	need(t, chromedp.Listen(ctx, p.note))
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	p.do(chromedp.EmulateViewport(1280, 900))
	return p
}

// load loads the page, once more for each time that a change of the network cut
// something off: a program of which a file is missing does not start.
func (p *tab) load(action chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	for {
		p.setCutOff(false)
		if _, err := chromedp.Run(p.ctx, action); !p.setCutOff(false) {
			need(p.t, err)
			return
		}
	}
}

// setCutOff returns what it was before.
func (p *tab) setCutOff(is bool) (was bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	was, p.cutOff = p.cutOff, is
	return was
}

// note hears what happens. That a request was answered with an error is what
// many tests are about, and no fault of the page.
func (p *tab) note(event any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.sent = append(p.sent, e)
	case *network.EventLoadingFailed:
		p.cutOff = p.cutOff || e.ErrorText == "net::ERR_NETWORK_CHANGED"
	case *network.EventResponseReceivedExtraInfo:
		p.statuses = append(p.statuses, e.StatusCode)
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.faults = append(p.faults, fmt.Sprintf("%s %s", e.Type, e.Args[0].Value))
	case *log.EventEntryAdded:
		if e.Entry.Source != "network" {
			p.faults = append(p.faults, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	}
}

// asked are the addresses below the API that were requested so far.
func (p *tab) asked() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	var paths []string
	for _, e := range p.sent {
		if path, ok := strings.CutPrefix(e.Request.URL, p.address); ok && strings.HasPrefix(path, "/api/") {
			paths = append(paths, path)
		}
	}
	return paths
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	need(p.t, chromedp.Do(p.ctx, actions...))
}

// call gives the browser a command of its protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	need(p.t, err)
	return result
}

// js gives the value of an expression on the page.
func js[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for an expression to be true. While one page follows another there may be
// none in which it has a value.
func (p *tab) until(expression string) {
	p.t.Helper()
	for end := time.Now().Add(harness.Patience); ; <-time.After(20 * time.Millisecond) {
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")", chromedp.EvalAwaitPromise))
		switch {
		case is:
			return
		case err != nil && !strings.Contains(err.Error(), "target navigated"):
			p.t.Fatalf("%s: %v", expression, err)
		case time.Now().After(end):
			p.t.Fatalf("still not so: %s; the page says: %.2000s", expression, p.text("body"))
		}
	}
}

// says waits for a place to have a text.
func (p *tab) says(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, text))
}

// text is what a place says.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return js[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// texts are what all such places say, hidden ones and those for screen readers
// included.
func (p *tab) texts(selector string) []string {
	p.t.Helper()
	return js[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.textContent)", selector))
}

// signIn types a key and waits for a view.
func (p *tab) signIn(key string) *tab {
	p.t.Helper()
	p.typeKey(key)
	p.settled()
	return p
}

func (p *tab) typeKey(key string) {
	p.t.Helper()
	// The page itself is asked: the driver's own copy of its nodes may be stale.
	p.until("document.querySelector('#key-form button')?.disabled === false")
	js[chromedp.Void](p, "document.getElementById('key').focus()")
	p.do(chromedp.KeyEvent(key + "\r"))
}

// settled waits until the page shows what was requested last.
func (p *tab) settled() {
	p.t.Helper()
	js[chromedp.Void](p, "new Promise((told) => setTimeout(told))") // a new fragment is heard of in the next turn
	p.until(`!document.getElementById('account').hidden && document.querySelector('#view h1, #view .failed') && document.getElementById('view').getAttribute('aria-busy') === 'false'
		&& [...document.querySelectorAll('.chart')].every((chart) => chart.childElementCount > 0)`) // drawn once its size is known
}

// goTo changes the fragment, and waits for what it asks for.
func (p *tab) goTo(fragment string) {
	p.t.Helper()
	js[chromedp.Void](p, fmt.Sprintf("location.hash = %q", fragment))
	p.settled()
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// choose picks a value of a select, as its user would, and waits as long as the page does
// for another choice.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	js[chromedp.Void](p, fmt.Sprintf(
		"{const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true})); new Promise((told) => setTimeout(told, 510))}",
		selector, value))
	p.settled()
}

// press presses keys one after the other.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// focused is what has the focus: its tag, and its text or name.
func (p *tab) focused() string {
	p.t.Helper()
	return js[string](p, `{const e = document.activeElement; e.tagName.toLowerCase() + ' ' + (e.getAttribute('aria-label') ?? e.id ?? '') + '|' + e.textContent.slice(0, 40)}`)
}

// everScripted puts a script into the page before its own ones run.
func (p *tab) everScripted(source string) {
	p.t.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
	p.load(chromedp.Reload())
}

// api is the answer to a request that the page made.
func api(t *testing.T, c harness.Client, path string) harness.Answer {
	t.Helper()
	a, err := c.Get(path)
	need(t, err)
	return a
}

// same tells where two lists of texts differ.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
