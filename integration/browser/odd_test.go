package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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
		"#/overview?stack=campaign":     "By marketplace",
		"#/overview?stack=constructor":  "By marketplace",
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

const us, uk = "9007199254740997", "9007199254740999"

// twoMarketplaces are the files of an account of us and uk, without reports.
var twoMarketplaces = map[string]string{
	"profiles.json": strings.TrimSuffix(usProfile, "]") + "," + strings.NewReplacer("[", "", us, uk, "USD", "GBP", "US", "UK", "America/Los_Angeles", "Europe/London").Replace(usProfile),
	"rates.csv":     "date,currency,usd\n2025-12-10,GBP,1.25\n2025-12-29,GBP,1.25\n2026-01-02,GBP,1.25\n2026-01-09,GBP,1.25\n2026-01-16,GBP,1.25\n2026-01-20,GBP,1.25\n2026-01-27,GBP,1.25\n",
}

// loadBrands loads a report of a profile, with figures of its one campaign, whose id is
// the profile's last two digits, on each of its days.
func (h *house) loadBrands(t *testing.T, account, profile, first, last string) {
	t.Helper()
	var rows []string
	for day := dateOf(t, first); !day.After(dateOf(t, last)); day = day.AddDate(0, 0, 1) {
		rows = append(rows, strings.NewReplacer("2026-01-02", day.Format(time.DateOnly), "11", profile[len(profile)-2:]).Replace(strings.Trim(oldBrandRows, "[]")))
	}
	l, err := h.Load(account, filesIn(t, map[string]string{
		"b.report.json": strings.NewReplacer(us, profile, `"b"`, `"`+profile+last+`"`, "2026-01-02", first, "2026-01-03", last, "2026-01-05", "2026-02-05").Replace(oldBrands),
		"b.json":        "[" + strings.Join(rows, ",") + "]",
	}))
	if err != nil || l.Code != 0 {
		t.Fatal(l, err)
	}
}

// passMinute puts the clock ahead by which the page asks for marketplaces again.
func (p *tab) passMinute() {
	p.t.Helper()
	js[any](p, "{ const now = performance.now.bind(performance); performance.now = () => now() + 61_000; null }")
}

// Where the figures of a marketplace end follows what was loaded since: after Refresh,
// once an answer has later days than any marketplace had, and a minute later where one is
// behind.
func TestWhereFiguresEndFollowsWhatIsLoaded(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "behind", twoMarketplaces)
	load := func(profile, day string) { h.loadBrands(t, "behind", profile, day, day) }
	load(uk, "2025-12-10")
	load(us, "2026-01-02")
	p := h.tab(t, h.server.Address, "#/overview?range=all_time").signIn(key)
	p.says("#notices", "No figures are held of UK for Dec 11, 2025 – Jan 2, 2026. Sums lack those days.")
	load(uk, "2026-01-02")
	p.click(`[data-keep="again"]`)
	p.says("#notices", "of UK for Dec 11, 2025 – Jan 1, 2026.")
	load(us, "2026-01-20")
	const before = "#/products?start_date=2026-01-02&end_date=2026-01-02"
	p.goTo(before)
	p.says("#notices", fmt.Sprintf("The figures of UK %s end on Jan 2, 2026, those of other marketplaces on Jan 20, 2026.", uk))
	if text := p.text("#notices"); strings.Contains(text, "of US") {
		t.Errorf("the newest figures are reported to end: %s", text)
	}
	load(uk, "2026-01-20") // and the minute is over, without a click
	p.passMinute()
	p.goTo(before + "&marketplaces=UK")
	p.until("!document.querySelector('#notices').textContent.includes('The figures of')")
}

// A marketplace's last days are its own: those of another one do not complete its week.
func TestWhatIsCompleteIsThatOfTheMarketplacesShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "uneven", twoMarketplaces)
	h.loadBrands(t, "uneven", us, "2025-12-29", "2026-01-20")
	h.loadBrands(t, "uneven", uk, "2025-12-29", "2026-01-26")
	const weeks = "#/overview?start_date=2026-01-12&end_date=2026-01-25&granularity=week&compare=previous_period"
	p := h.tab(t, h.server.Address, weeks).signIn(key)
	mustEnd := func(fragment, day string) {
		t.Helper()
		p.goTo(fragment)
		if got := p.text("#view"); !strings.Contains(got, "Figures up to "+day) {
			t.Errorf("%s: the page says %.200q, want figures up to %s", fragment, got, day)
		}
	}
	const cut, whole = "Week of Jan 19, 2026 (2 of 7 days): ", "Week of Jan 19, 2026: "
	for fragment, want := range map[string]struct{ upTo, week string }{
		weeks + "&marketplaces=US": {"Jan 20", cut}, weeks: {"Jan 20", cut}, weeks + "&marketplaces=GB": {"Jan 26", whole},
	} {
		mustEnd(fragment, want.upTo)
		got, isCut := p.at(-1), want.week == cut
		if !strings.HasPrefix(got, want.week) || strings.HasSuffix(got, "change –") != isCut {
			t.Errorf("%s: the chart says %q, want %q, and a change: %t", fragment, got, want.week, !isCut)
		}
		if drawn := p.count(".chart .line.now.unfinished, .chart polygon[fill]"); (drawn > 0) != isCut {
			t.Errorf("%s: %d things are drawn as not complete", fragment, drawn)
		}
	}
	const newest = "#/overview?start_date=2026-01-18&end_date=2026-01-20&marketplaces="
	for code, want := range map[string]string{"US": "Jan 20, 2026 (not complete yet): ", "UK": "Jan 20, 2026: "} {
		p.goTo(newest + code)
		if got := p.at(-1); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the chart says %q, want %q", code, got, want)
		}
	}
	// Days that have figures of one marketplace alone are not complete, and have no change.
	const days = "#/overview?start_date=2026-01-20&end_date=2026-01-27&compare=previous_period&marketplaces="
	const part = "(not of all marketplaces): "
	for fragment, heads := range map[string][]string{
		days:                         {"Jan 20, 2026 (not complete yet): ", "Jan 21, 2026 " + part, "Jan 22, 2026 " + part, "Jan 23, 2026 " + part, "Jan 24, 2026 " + part, "Jan 25, 2026 " + part, "Jan 26, 2026 " + part, "Jan 27, 2026 (0 of 1 days): "},
		days + us + "," + uk:         {"Jan 20, 2026 (not complete yet): ", "Jan 21, 2026 " + part},
		days + uk:                    {"Jan 20, 2026: ", "Jan 21, 2026: "},
		days + us:                    {"Jan 20, 2026 (not complete yet): ", "Jan 21, 2026 (0 of 1 days): "},
		days + "&campaign_ids=99":    {"Jan 20, 2026: ", "Jan 21, 2026: "},
		days + "&campaign_ids=97":    {"Jan 20, 2026 (not complete yet): ", "Jan 21, 2026 (0 of 1 days): "},
		days + "&campaign_ids=97,99": {"Jan 20, 2026 (not complete yet): ", "Jan 21, 2026 " + part},
		days + "&granularity=week":   {"Week of Jan 19, 2026 (1 of 7 days): ", "Week of Jan 26, 2026 " + part},
	} {
		p.goTo(fragment)
		for i, head := range heads {
			if got := p.at(i); !strings.HasPrefix(got, head) || (strings.HasSuffix(head, part) && !strings.Contains(got, "change –")) {
				t.Errorf("%s: the chart says %q, want %q, and no change of a part", fragment, got, head)
			}
		}
	}
	// Answers that name no marketplace of a campaign tell nothing of how far its figures go.
	const of, later = "?start_date=2026-01-12&end_date=2026-01-25&campaign_ids=", "#/overview?start_date=2026-01-21&end_date=2026-01-27"
	for fragment, day := range map[string]string{
		"#/products" + of + "99": "Jan 26", "#/campaign-figures" + of + "99": "Jan 26", "#/products" + of + "97,99": "Jan 20", "#/products" + of + "97": "Jan 20",
	} {
		mustEnd(fragment, day)
	}
	for _, fragment := range []string{"#/ad-group-figures" + of + "99", "#/products" + of + "99&search=zz", later + "&campaign_ids=97", later + "&campaign_ids=97,99"} {
		p.goTo(fragment)
		if got := p.text("#view"); strings.Contains(got, "Figures up to") {
			t.Errorf("%s: the page says how far figures go: %.200q", fragment, got)
		}
	}
	h.loadBrands(t, "uneven", us, "2026-01-21", "2026-01-25")
	p.passMinute()
	mustEnd(weeks+"&marketplaces=US", "Jan 25")
	// One that ended long ago has its notice, and leaves the days of the others complete.
	h.loadBrands(t, "uneven", uk, "2026-01-27", "2026-02-02")
	mustEnd(strings.ReplaceAll(weeks, "25&", "31&"), "Feb 2")
	p.says("#notices", "No figures are held of US for Jan 26 – 31, 2026. Sums and changes lack those days.")
	mustEnd(weeks+"&marketplaces=US", "Jan 25")
}

// Days that no report covers are named once: by their dates, and with the ad type only
// where not all of a marketplace lack the same.
func TestDaysThatNoReportCoversAreNamed(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "")
	p.everScripted(`{
		const part = (marketplace, product, start_date, days) => ({ marketplace, marketplace_id: marketplace, ad_product: 'SPONSORED_' + product, start_date, end_date: '2026-11-30', days })
		const lacks = [part('DE', 'PRODUCTS', '2026-11-01', 2), ...['PRODUCTS', 'BRANDS'].map((product) => part('MX', product, '2026-11-28', 3)),
			part('US', 'PRODUCTS', '2026-11-28', 3), part('US', 'BRANDS', '2026-11-30', 1)]
		const send = fetch
		window.fetch = async (address, options) => {
			const answer = await send(address, options)
			return address.includes('/api/') ? new Response((await answer.text()).replace('"meta":{"data', '"meta":{"not_held":' + JSON.stringify(lacks) + ',"data'), answer) : answer
		}
	}`)
	p.signIn(h.key)
	const want = "No figures are held of DE for 2 days of Nov 1 – 30, 2026; of MX, Sponsored Products of US for Nov 28 – 30, 2026; of Sponsored Brands of US for Nov 30, 2026. Sums %slack those days."
	for fragment, changes := range map[string]string{"#/overview": "", "#/products?range=last_7_days&compare=previous_period": "and changes "} {
		p.goTo(fragment)
		got := strings.Join(p.texts("#notices p"), "|")
		if got != fmt.Sprintf(want, changes) {
			t.Errorf("%s: %q, want %q", fragment, got, fmt.Sprintf(want, changes))
		}
	}
}

// A marketplace of which no report was loaded has no day up to which its figures go.
func TestAMarketplaceWithoutADaySaysSo(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	key := h.account(t, "onlyus", twoMarketplaces)
	h.loadBrands(t, "onlyus", us, "2026-01-02", "2026-01-20")
	p := h.tab(t, h.server.Address, "").signIn(key)
	const none = "No figures of UK are held yet."
	for fragment, want := range map[string]struct{ says, upTo bool }{
		"#/overview?range=all_time": {true, true}, "#/products?range=all_time&marketplaces=US,UK": {true, true},
		"#/overview?range=all_time&marketplaces=UK": {true, false}, "#/overview?range=all_time&marketplaces=US": {false, true}, "#/rules": {false, false},
	} {
		p.goTo(fragment)
		says, upTo := strings.Contains(p.text("#notices"), none), strings.Contains(p.text("#view"), "Figures up to Jan 20, 2026")
		if says != want.says || upTo != want.upTo {
			t.Errorf("%s: says %q: %t, want %t; up to a day: %t, want %t", fragment, none, says, want.says, upTo, want.upTo)
		}
	}
	p.goTo("#/overview?range=all_time&marketplaces=UK")
	shared := p.share(h)
	shared.showsView()
	if got := shared.text("#view"); strings.Contains(got, "Figures up to") {
		t.Errorf("below a share link: %.200q", got)
	}
}

// Answers have Gregorian months, and some languages a calendar of their own.
func TestMonthsAreThoseOfAnswersInEveryLanguage(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?start_date=2025-11-01&end_date=2025-12-31&granularity=month").signIn(h.key)
	for locale, texts := range map[string][2]string{"fa-IR": {"نوامبر ۲۰۲۵", "۱ نوامبر"}, "th-TH": {"พ.ย. 2025", "1 พ.ย."}, "ar-SA-u-ca-islamic-umalqura": {"نوفمبر ٢٠٢٥", "١ نوفمبر"}} {
		call(p, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{})
		call(p, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: locale})
		p.load(chromedp.Reload())
		p.settled()
		if got := p.at(0); !strings.Contains(got, texts[0]) {
			t.Errorf("%s: the month is %q, want %s", locale, got, texts[0])
		}
		if got := p.text("#view .span"); !strings.Contains(got, texts[1]) {
			t.Errorf("%s: the period is %q, want %s", locale, got, texts[1])
		}
	}
}

// A list that is being read from the platform is drawn once more after a minute, of which
// the test has the clock.
func TestASearchThatIsBeingTypedOutlivesARedraw(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/campaigns")
	p.everScripted(`{
		const later = setTimeout, send = fetch
		window.setTimeout = (does, after) => after === 60_000 ? (window.again = does) : later(does, after)
		window.fetch = async (address, options) => {
			const answer = await send(address, options)
			if (!address.includes('/campaigns')) return answer
			const body = await answer.text()
			return new Response(body.replace('"syncing":false', '"syncing":true'), answer)
		}
	}`)
	p.signIn(h.key)
	p.says("#view", "The page asks again in a minute")
	p.click("[type=search]")
	p.press("B", "r", "n", kb.ArrowLeft)
	js[any](p, "(document.querySelector('[type=search]').id = 'before', again(), null)")
	p.until("!document.getElementById('before')")
	p.settled()
	p.press("a")
	if got := js[string](p, "`${document.activeElement.type} ${document.activeElement.value}`"); got != "search Bran" {
		t.Fatalf("after the redraw what is typed is in %q, want search Bran", got)
	}
	p.press(kb.Enter)
	p.until("location.hash.includes('search=Bran')")
	p.settled()
	js[any](p, "(history.back(), null)")
	p.until("document.querySelector('[type=search]').value === ''")
}
