package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

func TestTheKeyIsInTheHeaderOfRequestsToTheAPIAlone(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, fragment := range []string{"#/products", "#/campaign-figures", "#/campaigns", "#/rules", "#/activity", "#/overview?range=last_7_days"} {
		p.goTo(fragment)
	}
	p.lock.Lock()
	for _, e := range p.sent {
		body, err := json.Marshal(e.Request)
		need(t, err)
		times, inHeader := strings.Count(string(body), h.key), fmt.Sprint(e.Request.Headers["Authorization"]) == "Bearer "+h.key
		isAPI := strings.HasPrefix(e.Request.URL, h.server.Address+"/api/v1/")
		if isAPI != inHeader || isAPI && times != 1 || !isAPI && times != 0 || !strings.HasPrefix(e.Request.URL, h.server.Address+"/") && !strings.HasPrefix(e.Request.URL, "blob:") {
			t.Errorf("a request to %s has the key %d times, in the header %t", e.Request.URL, times, inHeader)
		}
	}
	p.lock.Unlock()
	kept := js[string](p, `(async () => JSON.stringify([
		location.href, document.cookie, {...localStorage}, history.state, window.name, document.documentElement.outerHTML,
		document.getElementById('key').value, await caches.keys(), (await indexedDB.databases()).map((d) => d.name), performance.getEntries().map((e) => e.name)]))()`)
	if strings.Contains(kept, h.key) {
		t.Errorf("the key is kept: %s", kept)
	}
	p.keeps(h.key, "")
}

// keeps checks what the browser stores for the tab, and on the device: nothing but a
// key.
func (p *tab) keeps(inTab, onDevice string) {
	p.t.Helper()
	stored := js[string](p, "JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])")
	want := []any{map[string]string{}, map[string]string{}, ""}
	for i, key := range []string{inTab, onDevice} {
		if key != "" {
			want[i] = map[string]string{"adlens-key": key}
		}
	}
	wanted, err := json.Marshal(want)
	need(p.t, err)
	if stored != string(wanted) {
		p.t.Errorf("stored is %s, want %s", stored, wanted)
	}
}

func TestTheKeyIsKeptInTheTabUntilItsUserSignsOut(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/products?range=last_7_days").signIn(h.key)
	p.load(chromedp.Reload())
	p.settled()
	if got := p.text("#view h1"); got != "Products" {
		t.Errorf("after the reload the view is %q", got)
	}
	p.keeps(h.key, "")
	other := p.another("")
	other.until("document.querySelector('#key-form button')?.disabled === false && !document.getElementById('signin').hidden")
	p.click("#forget")
	p.until("!document.getElementById('signin').hidden && document.activeElement.id === 'key'")
	p.keeps("", "")
	if left := js[string](p, "(document.getElementById('account').textContent + document.getElementById('who').textContent).trim()"); left != "" {
		t.Errorf("what it showed is still there: %s", left)
	}
	before := len(p.asked())
	js[any](p, "(location.hash = '#/rules', null)")
	p.until("location.hash === '#/rules'")
	p.load(chromedp.Reload())
	p.until("document.querySelector('#key-form button')?.disabled === false && !document.getElementById('signin').hidden")
	if after := p.asked(); len(after) != before {
		t.Errorf("without a key it asked %v", after[before:])
	}
}

func TestTheKeyIsKeptOnTheDeviceWhereItsUserSaysSo(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	p.click("#forget")
	p.click("#stay")
	p.signIn(h.key)
	p.keeps("", h.key)
	other := p.another("#/rules")
	other.settled()
	if got := other.text("#view h1"); got != "Rules" {
		t.Errorf("another tab of the device shows %q", got)
	}
	other.click("#forget")
	for _, each := range []*tab{other, p} {
		each.until("!document.getElementById('signin').hidden && document.getElementById('account').hidden")
		each.keeps("", "")
	}
	p.says("#said", "another tab")
}

// failsOnce answers the first request for the account as a server that fails does.
const failsOnce = `{const real = fetch; let failed = false; window.fetch = (to, how) => failed || !String(to).includes('/account') ? real(to, how)
	: (failed = true, Promise.resolve(new Response('{}', {status: 500, headers: {'Content-Type': 'application/problem+json'}})))}`

// A server that fails for a moment ends no session, in this tab or another.
func TestAKeyOnTheDeviceOutlivesAFailureOfTheServer(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.click("#stay")
	p.signIn(h.key)
	p.everScripted(failsOnce)
	p.until("document.getElementById('key-fault').textContent && document.getElementById('key').value")
	if !js[bool](p, "document.getElementById('stay').checked && !document.getElementById('forget').hidden") {
		t.Error("the key on the device seems to be none, or cannot be removed")
	}
	p.click("#key-form button")
	p.settled()
	p.keeps("", h.key)
}

// A key of the tab stays in the tab, and takes the place of none on the device.
func TestAKeyOfTheTabOutlivesAFailureOfTheServerThere(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	js[any](p, "localStorage.setItem('adlens-key', 'another'), null")
	p.everScripted(failsOnce)
	p.until("document.getElementById('key-fault').textContent && document.getElementById('key').value")
	if js[bool](p, "document.getElementById('stay').checked") {
		t.Error("the tab's key seems to be kept on the device")
	}
}

// Whoever mistypes a key need not say again where it is kept.
func TestARefusedKeyLeavesTheChoiceOfItsPlace(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.click("#stay")
	p.typeKey("key_live_mistyped")
	p.until("document.getElementById('key-fault').textContent")
	p.signIn(h.key)
	p.keeps("", h.key)
	p.click("#forget")
	if js[bool](p, "document.getElementById('stay').checked") {
		t.Error("the next key would be kept on the device without a word")
	}
}

// A page that Back brings back as it was left would still have a key that was signed out.
func TestAPageThatIsBroughtBackBeginsAgain(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	js[any](p, "window.marked = true, sessionStorage.clear(), localStorage.clear(), dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
	p.until("!window.marked && document.getElementById('signin')?.hidden === false")
}

// What is refused in one tab is not the key of the others.
func TestARefusedKeyLeavesTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	other := p.another("")
	other.until("document.querySelector('#key-form button')?.disabled === false")
	p.click("#stay")
	p.signIn(h.key)
	other.typeKey("nonsense")
	other.says("#key-fault", "misspelt")
	p.goTo("#/rules")
	p.keeps("", h.key)
	if said := p.text("#said"); said != "" || p.text("#view h1") != "Rules" {
		t.Errorf("the other tab says %q, and shows %q", said, p.text("#view h1"))
	}
}

// Who signs in for this tab alone leaves the key that another tab keeps on the device.
func TestAKeyOfTheTabLeavesThatOnTheDevice(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("second")
	need(t, err)
	p := h.tab(t, h.server.Address, "")
	other := p.another("")
	p.click("#stay")
	p.signIn(h.key)
	other.signIn(key)
	other.keeps(key, h.key)
	p.goTo("#/rules")
	p.keeps("", h.key)
	if said := p.text("#said"); said != "" || p.text("#view h1") != "Rules" {
		t.Errorf("the other tab says %q, and shows %q", said, p.text("#view h1"))
	}
}

func TestARefusedKeyIsAskedForAgain(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	for _, wrong := range []string{"nonsense", "key_live_" + strings.Repeat("a", 36), "ключ"} {
		p.typeKey(wrong)
		p.says("#key-fault", "misspelt, revoked or expired")
		js[any](p, "document.getElementById('key-fault').replaceChildren()")
	}
	p.signIn(h.key)
	if p.text("#key-fault") != "" {
		t.Error("the old fault is still shown")
	}
}

func TestAKeyThatIsRevokedMeanwhileIsForgotten(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Key("demo", "--expires", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly))
	need(t, err)
	p := h.tab(t, h.server.Address, "").signIn(key)
	var listed struct {
		Data []struct {
			KeyID string `json:"key_id"`
			Start string
		}
	}
	need(t, json.Unmarshal([]byte(h.Run("key", "list", "--account", "demo", "--json").Stdout), &listed))
	for _, k := range listed.Data {
		if strings.HasPrefix(key, k.Start) {
			if r := h.Run("key", "revoke", k.KeyID); r.Code != 0 {
				t.Fatal(r)
			}
		}
	}
	p.until(`(document.querySelector('[data-keep="again"]')?.click(), !document.getElementById('signin').hidden)`)
	p.says("#key-fault", "revoked")
	p.keeps("", "")
}
