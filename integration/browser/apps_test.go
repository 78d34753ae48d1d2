package browser_test

import (
	"fmt"
	"strings"
	"testing"

	setup "adlens/integration/house"
)

func TestAnAssistantsConnectionIsShownAndEnded(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("assisted")
	need(t, err)
	if _, err := h.Account("other"); err != nil {
		t.Fatal(err)
	}
	p := h.tab(t, h.server.Address, "#/apps").signIn(key)
	p.says("#view", "No assistant is connected.")
	const hostile = `<img src=x onerror=alert(1)>`
	ended, kept := setup.App(t, h.Program, "assisted", "Claude"), setup.App(t, h.Program, "assisted", hostile)
	others := setup.App(t, h.Program, "other", "stranger")
	p.click(`[data-keep="again"]`)
	p.says("#view", "Claude")
	rows := p.texts("#view tbody tr")
	for i, want := range [][]string{{"Claude", ended}, {hostile, kept}} {
		if len(rows) != 2 || !strings.Contains(rows[i], want[0]+want[1]) || !strings.Contains(rows[i], "https://assistant.example/back") || !strings.Contains(rows[i], "Never") {
			t.Fatalf("the rows are %q", rows)
		}
	}
	if text := p.text("body"); strings.Contains(text, others) || strings.Contains(text, "Use these figures elsewhere") {
		t.Errorf("the page says %s", text)
	}
	p.click("#view tbody tr:first-child summary")
	p.click("#view tbody tr:first-child button")
	p.says("#said", "The connection of Claude is ended.")
	if rows := p.texts("#view tbody tr"); len(rows) != 1 || !strings.Contains(rows[0], kept) {
		t.Errorf("the rows are %q afterwards", rows)
	}
	listed := h.Run("app", "list", "--account", "assisted").Stdout
	for i, state := range []string{"revoked", "connected"} {
		if line := strings.Split(listed, "\n")[i+1]; !strings.Contains(line, " "+state+" ") {
			t.Errorf("app list: %s, expected %s", line, state)
		}
	}
	if r := h.Run("app", "revoke", kept); r.Code != 0 {
		t.Fatal(r)
	}
	p.click("#view tbody tr:first-child summary") // of a connection that another ended meanwhile
	p.click("#view tbody tr:first-child button")
	p.says("#view", "No assistant is connected.")
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, e := range p.sent {
		if strings.Contains(e.Request.URL, "/apps") && fmt.Sprint(e.Request.Headers["Authorization"]) != "Bearer "+key {
			t.Errorf("%s %s has no key", e.Request.Method, e.Request.URL)
		}
	}
}

// Without an active subscription the page shows no figures, but ends connections.
func TestAConnectionOfACanceledAccountIsEnded(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "canceled-assisted", map[string]string{"profiles.json": usProfile, "b.report.json": oldBrands, "b.json": oldBrandRows})
	setup.App(t, h.Program, "canceled-assisted", "Claude")
	if r := h.Run("account", "set", "canceled-assisted", "--subscription", "canceled"); r.Code != 0 {
		t.Fatal(r)
	}
	p := h.tab(t, h.server.Address, "#/overview?range=all_time").signIn(key)
	for _, fragment := range []string{"#/overview?range=all_time", "#/campaigns", "#/rules"} {
		p.goTo(fragment)
		p.says("#view .failed", "subscription is canceled")
		if !js[bool](p, "document.getElementById('controls').hidden") {
			t.Errorf("%s has pickers", fragment)
		}
	}
	p.click(`[data-keep="view-apps"]`)
	p.says("#view", "Claude")
	p.click("#view tbody tr summary")
	p.click("#view tbody tr button")
	p.says("#said", "The connection of Claude is ended.")
	if listed := h.Run("app", "list", "--account", "canceled-assisted").Stdout; !strings.Contains(listed, " revoked ") {
		t.Errorf("app list: %s", listed)
	}
}

// An assistant reads all of the account, so a key for some marketplaces is not told of it.
func TestAKeyForSomeMarketplacesIsNotToldThatNoAssistantIsConnected(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	h.account(t, "partly-shown", map[string]string{"profiles.json": usProfile, "b.report.json": oldBrands, "b.json": oldBrandRows})
	key, err := h.Key("partly-shown", "--marketplaces", "US")
	need(t, err)
	setup.App(t, h.Program, "partly-shown", "Claude")
	p := h.tab(t, h.server.Address, "#/apps").signIn(key)
	if text := p.text("#view"); !strings.Contains(text, "Only a key for all marketplaces shows assistants.") || strings.Contains(text, "No assistant") || strings.Contains(text, "Claude") {
		t.Errorf("the page says %s", text)
	}
}
