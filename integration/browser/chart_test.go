package browser_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// at is what the chart says of a day, week or month, counted from the first; from
// the last where it is negative.
func (p *tab) at(place int) string {
	p.t.Helper()
	js[chromedp.Void](p, "document.querySelector('.chartbox').focus()")
	p.press(map[bool]string{true: kb.Home, false: kb.End}[place >= 0])
	for range max(place, -1-place) {
		p.press(map[bool]string{true: kb.ArrowRight, false: kb.ArrowLeft}[place >= 0])
	}
	return js[string](p, "document.querySelector('.chartbox').getAttribute('aria-valuetext')")
}

func (p *tab) count(selector string) int {
	p.t.Helper()
	return js[int](p, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// number is a whole number as the page writes it: with commas.
func number(value any) string {
	text := fmt.Sprint(value)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func money(value any) string {
	whole, cents, _ := strings.Cut(fmt.Sprint(value), ".")
	return "$" + number(whole) + "." + (cents + "00")[:2]
}

// /timeline answers 92 days; the page shows those of all time, and keeps the choice.
func TestDaysOfAllTimeAreShown(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=all_time").signIn(h.key)
	p.choose(`[data-keep="granularity"]`, "day")
	want := answer(t, h.client(h.key), "/api/v1/report?range=all_time&dimensions=date&page_size=all").list("data")
	if len(want) < 1000 {
		t.Errorf("there are %d days, want those of three years", len(want))
	}
	sameRows(t, "days of all time", p.table("Timeline"), want)
	if got := js[string](p, `document.querySelector('[data-keep="granularity"]').value`); got != "day" {
		t.Errorf("the choice says %q", got)
	}
	p.choose(`[data-keep="granularity"]`, "month")
	p.until("document.querySelector('#timeline-title').textContent === 'Spend by month'")
}

func TestATouchShowsTheDayThatIsTouched(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=last_month").signIn(h.key)
	p.do(chromedp.EmulateViewport(390, 844))
	call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	js[chromedp.Void](p, "document.querySelector('.chartbox').scrollIntoView({block: 'center'})")
	p.until("document.querySelector('.chart polyline')")
	timeline := answer(t, h.client(h.key), "/api/v1/timeline?range=last_month")
	period := timeline["period"].(map[string]any)
	start, last := dateOf(t, period["start_date"]), dateOf(t, period["end_date"])
	shown := map[string]string{} // what is shown of a day; the demonstration has days without figures
	for _, day := range timeline.list("data") {
		shown[dateOf(t, day["date"]).Format(shownDay)] = money(day["spend"])
	}
	for _, day := range []time.Time{start, start.AddDate(0, 0, 15), last} {
		box := js[[]float64](p, `(() => { const l = document.querySelector('.rule line').getBoundingClientRect(); const b = document.querySelector('.chartbox').getBoundingClientRect(); return [l.left, l.right, b.top + b.height / 2] })()`)
		share := float64(day.Sub(start)) / float64(last.Sub(start))
		point := input.TouchPoint{X: box[0] + share*(box[1]-box[0]), Y: box[2]}
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{&point}})
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
		date := day.Format(shownDay)
		p.until("!document.querySelector('.tip').hidden")
		p.says(".tip", date)
		p.says(".tip", cmp.Or(shown[date], "no figure"))
	}
}

// dateOf reads a date of an answer.
func dateOf(t *testing.T, value any) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, fmt.Sprint(value))
	need(t, err)
	return day
}

func TestTwoFiguresHaveAnAxisEach(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "#/overview?range=last_month").signIn(h.key)
	before := len(p.asked())
	p.choose(`[data-keep="second"]`, "impressions")
	if got := p.text("#timeline-title"); got != "Spend and Impressions by day" {
		t.Errorf("the title is %q", got)
	}
	days := answer(t, h.client(h.key), "/api/v1/timeline?range=last_month").list("data")
	for _, place := range []int{0, 3, -1} {
		day := days[(place+len(days))%len(days)]
		if got, want := p.at(place), "Spend "+money(day["spend"])+"; Impressions "+number(day["impressions"]); !strings.HasSuffix(got, want) {
			t.Errorf("the chart says %q, want %q", got, want)
		}
	}
	// On the first of a month the newest day of last month has a line of its own.
	p.until("document.querySelector('.line.second')")
	right := p.texts(".chart text.second")
	left := p.texts(".rule text:not(.second)")
	if len(right) != len(left) || right[0] != "0" || left[0] != "$0" || strings.Contains(right[len(right)-1], "$") {
		t.Errorf("the axes are %v and %v", left, right)
	}
	p.choose(`[data-keep="second"]`, "")
	if n := len(p.asked()); n != before || p.count(".chart .second") != 0 {
		t.Errorf("a second figure took %d requests, and leaves %d marks", n-before, p.count(".chart .second"))
	}
}

// The parts of a bar are those of the report, and are together as high as the whole.
func TestTheChartIsStackedByMarketplaceOrAdType(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	for _, c := range []struct{ query, period, dimensions, column, title string }{
		{"range=last_month&stack=marketplace", "range=last_month", "date,marketplace", "marketplace", "Spend by day and marketplace"},
		{"range=all_time&stack=ad_product", "range=all_time", "month,ad_product", "ad_product", "Spend by month and ad type"},
		{"range=last_90_days&granularity=week&stack=marketplace&marketplaces=UK%2CUS&compare=previous_period", "range=last_90_days&marketplaces=UK,US&compare=previous_period", "week,marketplace", "marketplace", "Spend by week and marketplace"},
	} {
		p.goTo("#/overview?" + c.query)
		if got := p.text("#timeline-title"); got != c.title {
			t.Errorf("the title is %q, want %q", got, c.title)
		}
		dimension := strings.Split(c.dimensions, ",")[0]
		rows := answer(t, h.client(h.key), "/api/v1/report?page_size=all&dimensions="+c.dimensions+"&"+c.period).list("data")
		first := p.at(0)
		named := map[string]string{"SPONSORED_PRODUCTS": "Sponsored Products", "SPONSORED_BRANDS": "Sponsored Brands", "SPONSORED_DISPLAY": "Sponsored Display"}
		for _, r := range rows {
			if r[dimension] != rows[0][dimension] {
				break
			}
			label := fmt.Sprint(r[c.column])
			if named[label] != "" {
				label = named[label]
			}
			if !strings.Contains(first, label+" "+money(r["spend"])) {
				t.Errorf("%s: the chart says %q, want %s with %s", c.query, first, label, money(r["spend"]))
			}
		}
		bars := 0
		for _, r := range rows {
			if spend := fmt.Sprint(r["spend"]); spend != "0" && spend != "0.00" {
				bars++
			}
		}
		if got := p.count(".chart rect[class^=part-]"); got != bars {
			t.Errorf("%s: %d bars, want %d", c.query, got, bars)
		}
	}
	p.goTo("#/overview?range=last_month&stack=marketplace&measure=acos")
	p.says("#view", "ACOS is a ratio")
	if p.count(".chart rect[class^=part-]") != 0 {
		t.Error("a ratio is stacked")
	}
}

// shownDay is a day as the page shows it.
const shownDay = "Jan 2, 2006"

// lastMarch is the first day and the first Monday of March of last year, which the
// demonstration has whenever it was made.
func lastMarch() (first, monday time.Time) {
	first = time.Date(time.Now().UTC().Year()-1, time.March, 1, 0, 0, 0, 0, time.UTC)
	return first, first.AddDate(0, 0, (8-int(first.Weekday()))%7)
}

func TestTheChartComparesBothDates(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	_, monday := lastMarch()
	query := "?start_date=" + monday.Format(time.DateOnly) + "&end_date=" + monday.AddDate(0, 0, 6).Format(time.DateOnly) + "&compare=previous_period"
	p := h.tab(t, h.server.Address, "#/overview"+query).signIn(h.key)
	day := answer(t, h.client(h.key), "/api/v1/timeline"+query).list("data")[1]
	earlier := row(day["comparison"].(map[string]any))
	change := fmt.Sprint(earlier["change"].(map[string]any)["spend"])
	if !strings.HasPrefix(change, "-") {
		change = "+" + change
	}
	want := fmt.Sprintf("%s: Spend %s; %s %s, change %s", monday.AddDate(0, 0, 1).Format(shownDay), money(day["spend"]), monday.AddDate(0, 0, -6).Format(shownDay), money(earlier["spend"]), change)
	if got := p.at(1); !strings.HasPrefix(got, want) {
		t.Errorf("the chart says %q, want %q", got, want)
	}
}

// A period that is compared with a longer one has points without a date of their own.
func TestTheChartComparesALongerPeriod(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	march, monday := lastMarch()
	for _, query := range []string{
		"start_date=" + march.AddDate(0, 0, 1).Format(time.DateOnly) + "&end_date=" + march.AddDate(0, 6, -1).Format(time.DateOnly) + "&granularity=month&compare=previous_period", // of two months more, but in a leap year
		"start_date=" + march.Format(time.DateOnly) + "&end_date=" + march.AddDate(0, 0, 30).Format(time.DateOnly) + "&granularity=month&compare=previous_period",                  // of two months before
		"start_date=" + monday.Format(time.DateOnly) + "&end_date=" + monday.AddDate(0, 0, 6).Format(time.DateOnly) + "&granularity=week&compare=previous_year",                    // which began on no Monday
	} {
		points := answer(t, h.client(h.key), "/api/v1/timeline?"+query).list("data")
		undated := slices.DeleteFunc(slices.Clone(points), func(point row) bool { return point["date"] != nil })
		if len(undated) == 0 {
			t.Fatalf("%s: all points have a date", query)
		}
		p.goTo("#/overview?" + query)
		for i, point := range undated {
			earlier := row(point["comparison"].(map[string]any))
			if got, want := p.at(i-len(undated)), money(earlier["spend"]); !strings.Contains(got, want) {
				t.Errorf("%s: the chart says %q of a point without a date, want %s", query, got, want)
			}
		}
	}
}

func TestWhatIsNotCompleteIsDrawnAsSuch(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	march, monday := lastMarch()
	wednesday := monday.AddDate(0, 0, 2)
	whole := "#/overview?start_date=" + march.Format(time.DateOnly) + "&end_date=" + march.AddDate(0, 2, -1).Format(time.DateOnly)
	cut := "#/overview?start_date=" + wednesday.Format(time.DateOnly) + "&end_date=" + march.AddDate(0, 1, 5).Format(time.DateOnly)
	for fragment, want := range map[string]struct {
		place int
		words string // none where all is whole
	}{
		cut + "&granularity=week":                    {0, "Week of " + monday.Format(shownDay) + " (5 of 7 days): "},
		cut + "&granularity=month":                   {-1, march.AddDate(0, 1, 0).Format("Jan 2006") + " (6 of 30 days): "},
		cut + "&granularity=month&stack=marketplace": {0, fmt.Sprintf("%s (%d of 31 days): ", march.Format("Jan 2006"), 32-wednesday.Day())},
		whole + "&granularity=month":                 {0, ""},
		whole + "&granularity=day":                   {-1, ""},
	} {
		p.goTo(fragment)
		if got := p.at(want.place); !strings.Contains(got, want.words) {
			t.Errorf("%s: the chart says %q, want %q", fragment, got, want.words)
		}
		if drawn := p.count(".chart .unfinished, .chart polygon[fill]"); (drawn > 0) != (want.words != "") {
			t.Errorf("%s: %d things are drawn as not complete", fragment, drawn)
		}
	}
	// The newest day still fills; once a year the demonstration has no figures of it.
	timeline := answer(t, h.client(h.key), "/api/v1/timeline?range=last_30_days")
	days := timeline.list("data")
	isShown := days[len(days)-1]["date"] == timeline["meta"].(map[string]any)["data_last_date"]
	p.goTo("#/overview?range=last_30_days")
	if today := p.at(-1); !strings.Contains(today, "no figure") {
		t.Errorf("the chart says %q of today", today)
	}
	if drawn := p.count(".chart .unfinished, .chart polygon[fill]"); (drawn > 0) != isShown {
		t.Errorf("%d things are drawn as not complete", drawn)
	}
	newest := p.texts("details tbody tr:last-child th")
	if len(newest) != 1 || strings.HasSuffix(newest[0], "not complete yet") != isShown {
		t.Errorf("the table says %q of the newest day", newest)
	}
}

// Five days of a week are no rise since one day of another.
func TestCutWeeksHaveAChangeSinceAsManyDays(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	p := h.tab(t, h.server.Address, "").signIn(h.key)
	march, monday := lastMarch()
	wednesday := monday.AddDate(0, 0, 2)
	for _, c := range []struct {
		start time.Time
		days  int
		by    string
		want  []bool
	}{
		{wednesday, 10, "week", []bool{false, false, false}}, {wednesday, 14, "week", []bool{true, true, true}},
		{march.AddDate(0, 1, 0), 29, "month", []bool{true}}, // 29 days of April, and of March
	} {
		start, days, want := c.start, c.days, c.want
		p.goTo(fmt.Sprintf("#/overview?start_date=%s&end_date=%s&granularity=%s&compare=previous_period", start.Format(time.DateOnly), start.AddDate(0, 0, days-1).Format(time.DateOnly), c.by))
		var isChanged []bool
		for _, change := range p.texts("details tbody td:nth-child(2) .change") {
			isChanged = append(isChanged, !strings.HasPrefix(change, "–"))
		}
		if !slices.Equal(isChanged, want) {
			t.Errorf("of %d days the parts %q have changes: %t, want %t", days, p.texts("details tbody th"), isChanged, want)
		}
	}
}

// From July to October there are as many days as from the last of February to June.
func TestAWholeMonthHasNoChangeSinceADay(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	march, _ := lastMarch()
	february := march.AddDate(0, 0, -1)
	p := h.tab(t, h.server.Address, fmt.Sprintf("#/overview?start_date=%s&end_date=%s&granularity=month&compare=previous_period",
		march.AddDate(0, 4, 0).Format(time.DateOnly), march.AddDate(0, 8, -1).Format(time.DateOnly))).signIn(h.key)
	cut := fmt.Sprintf("%s (1 of %d days)", february.Format("Jan 2006"), february.Day())
	for place, want := range map[int]struct {
		earlier   string
		isChanged bool
	}{0: {cut + " $", false}, 1: {march.Format("Jan 2006") + " $", true}, -1: {march.AddDate(0, 3, 0).Format("Jan 2006") + " $", false}} {
		if got := p.at(place); !strings.Contains(got, want.earlier) || strings.HasSuffix(got, "change –") == want.isChanged {
			t.Errorf("the chart says %q, want %q, and a change: %t", got, want.earlier, want.isChanged)
		}
	}
	if n := p.count(".chart .line.earlier.unfinished"); n != 1 {
		t.Errorf("%d lines of the earlier period are drawn as not complete, want that of one month", n)
	}
	names, changes := p.texts("details tbody th"), p.texts("details tbody td:nth-child(2) .change")
	for i, isChanged := range []bool{false, true, true, true, false} {
		if strings.HasPrefix(changes[i], "–") == isChanged {
			t.Errorf("the table says %q of %q, want a change: %t", changes[i], names[i], isChanged)
		}
	}
	if want := march.AddDate(0, 4, 0).Format("Jan 2006") + "compared with " + cut; names[0] != want {
		t.Errorf("the table begins with %q, want %q", names[0], want)
	}
}
