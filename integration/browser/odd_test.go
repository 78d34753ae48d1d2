package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is seldom chosen is shown all the same, or explained with a way out.
func TestOddViewsAreShownAndCanBeLeft(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for fragment, text := range map[string]string{
		"#/overview?start_date=9999-12-01&end_date=9999-12-31":                   "", // beyond are no days
		"#/overview?start_date=9999-12-01&end_date=9999-12-31&granularity=week":  "",
		"#/overview?start_date=9999-01-01&end_date=9999-12-31&granularity=month": "",
		"#/products?page=99":            "This page has no rows.",
		"#/activity?page=99":            "This page has no rows.",
		"#/campaign-figures?search=zzz": "Nothing was found.",
	} {
		p.goTo(fragment)
		if n := p.count("#view .failed"); n != 0 {
			t.Errorf("%s: %s", fragment, p.text("#view .failed"))
		}
		if text != "" {
			p.says("#view", text)
		}
	}
	p.goTo("#/products?search=++")
	p.says("#view .failed", "is empty")
	p.click(`[data-keep="plain-view"]`)
	p.until("document.querySelectorAll('#view tbody tr').length > 0")
	p.goTo("#/overview?currency=local&range=last_month")
	p.says("#notices", "Shown without the marketplaces' own currency")
	p.click(`[data-keep="share"]`)
	if command := p.text("#view"); strings.Contains(command, "currency=local") {
		t.Errorf("the view that is shared is refused: %s", command)
	}
}

// An account that is open while its first files are loaded has their marketplaces after
// Refresh.
func TestMarketplacesThatAreNewAreShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key, err := h.Account("late")
	need(t, err)
	p := h.tab(t, h.server.Address, "#/overview?currency=local").signIn(key)
	p.says("#notices", "holds no figures yet")
	if n := p.count("#view .failed"); n != 0 {
		t.Errorf("without a marketplace: %s", p.text("#view .failed"))
	}
	made, dir := filepath.Join(h.DataDir, "demo-extracts"), t.TempDir()
	reports, err := filepath.Glob(filepath.Join(made, "reports", "US-sponsored-products-*"))
	need(t, err)
	for _, path := range append(reports[len(reports)-2:], filepath.Join(made, "profiles.json"), filepath.Join(made, "rates.csv")) {
		text, err := os.ReadFile(path)
		need(t, err)
		need(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600))
	}
	if done, err := h.Load("late", dir); err != nil || done.Code != 0 {
		t.Fatal(done, err)
	}
	p.goTo("#/overview?range=all_time")
	p.click(`[data-keep="again"]`)
	p.until("document.querySelectorAll('#controls input[type=checkbox]').length > 0")
	p.goTo("#/campaigns")
	p.says("#view", "US · ")
}
