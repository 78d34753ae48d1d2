package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/manifest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// world is a small account: what is held of each slice, the facts, and the
// tables as the loader derives them, by generation.
type world struct {
	view  View
	facts []fact
}

type fact struct {
	slice   manifest.Slice
	day     adlens.Day
	product uint32
	clicks  int64 // stands for all five measures
}

func (f fact) unit(kind manifest.Kind) manifest.Unit {
	u := manifest.Unit{Kind: kind, Slice: f.slice, Start: f.day.FirstOfMonth()}
	if kind == manifest.Year {
		u.Start = f.day.FirstOfYear()
	}
	return u
}

// sums by what an answer is grouped by.
type totals map[string]int64

// wanted sums the facts of a period and filters, and knows nothing of plans.
func (w world) wanted(r Request, key func(fact) string) totals {
	all := totals{}
	for _, f := range w.facts {
		if r.Period.Start <= f.day && f.day <= r.Period.End && w.passes(r.Filters, f.slice) {
			all[key(f)] += f.clicks
		}
	}
	return all
}

func (w world) passes(f Filters, s manifest.Slice) bool {
	country := w.view.byKey(s.Marketplace).Country
	return (f.Marketplaces == nil || slices.Contains(f.Marketplaces, country)) &&
		(f.AdProducts == nil || slices.Contains(f.AdProducts, s.AdProduct))
}

// planned sums what the plan's statements read: the rows of years and months
// whole, those of days between From and To. A generation that is listed twice
// is read once, as IN does.
func (w world) planned(plan Plan, key func(fact) string) totals {
	all := totals{}
	for _, f := range w.facts {
		month, year := w.view.Manifest.Generation(f.unit(manifest.Month)), w.view.Manifest.Generation(f.unit(manifest.Year))
		if slices.Contains(generationsOf(plan.Years), year) {
			all[key(f)] += f.clicks
		}
		if slices.Contains(generationsOf(plan.Months), month) {
			all[key(f)] += f.clicks
		}
		if slices.Contains(generationsOf(plan.Days), month) && plan.From <= f.day && f.day <= plan.To {
			all[key(f)] += f.clicks
		}
	}
	return all
}

func drawWorld(t *rapid.T) world {
	w := world{view: exampleView()}
	var entries []manifest.Entry
	for _, m := range w.view.Marketplaces {
		for _, p := range adlens.AdProducts[:2] {
			s := manifest.Slice{Marketplace: m.Key, AdProduct: p}
			spans := drawSpans(t, fmt.Sprint(m.ID, p))
			entries = append(entries, holding(s, spans...)...)
			w.facts = append(w.facts, drawFacts(t, s, spans)...)
		}
	}
	w.view.Manifest = manifest.New(1, entries...)
	return w
}

// drawSpans are held days: none, a few days, or months on end, with gaps.
func drawSpans(t *rapid.T, label string) [][2]string {
	var spans [][2]string
	for i := range rapid.IntRange(0, 3).Draw(t, label+" spans") {
		from := drawDay(t, "2024-11-01", "2026-11-01", fmt.Sprint(label, " from ", i))
		to := drawDay(t, "2024-11-01", "2026-11-01", fmt.Sprint(label, " to ", i))
		if rapid.Bool().Draw(t, "short") {
			to = from + adlens.Day(rapid.IntRange(0, 40).Draw(t, "days"))
		}
		spans = append(spans, [2]string{min(from, to).String(), max(from, to).String()})
	}
	return spans
}

// drawFacts puts rows on some of the held days; on others the report said
// nothing. Ends of spans get rows often: that is where days would get lost.
func drawFacts(t *rapid.T, s manifest.Slice, spans [][2]string) []fact {
	var facts []fact
	for _, span := range spans {
		from, to := day(span[0]), day(span[1])
		at := rapid.SliceOfN(rapid.Int32Range(int32(from), int32(to)), 0, 12).Draw(t, "days with rows")
		if rapid.Bool().Draw(t, "rows at the ends") {
			at = append(at, int32(from), int32(to))
		}
		for _, d := range at {
			facts = append(facts, fact{s, adlens.Day(d), rapid.Uint32Range(0, 3).Draw(t, "product"), rapid.Int64Range(1, 1e9).Draw(t, "clicks")})
		}
	}
	return facts
}

func ofProducts(f fact) string {
	return fmt.Sprint("product ", f.product, " in ", f.slice.Marketplace)
}

func bySliceAndDay(f fact) string { return fmt.Sprint(f.slice, f.day) }

// However a plan splits a period into years, months and days, the figures are
// those of the days alone: nothing doubled, nothing lost.
func TestAnyPlanGivesTheFiguresOfTheDaysAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range 10 {
			r := drawRequest(t, "2024-10-01", "2027-01-31")
			if diff := cmp.Diff(w.wanted(r, ofProducts), w.planned(PlanReport(r, w.view), ofProducts)); diff != "" {
				t.Fatalf("products of %+v with %+v (-facts +plan):\n%s", r, PlanReport(r, w.view), diff)
			}
			if diff := cmp.Diff(w.wanted(r, bySliceAndDay), w.planned(PlanDays(r, w.view), bySliceAndDay)); diff != "" {
				t.Fatalf("days of %+v with %+v (-facts +plan):\n%s", r, PlanDays(r, w.view), diff)
			}
		}
	})
}

func TestPlansNameLiveGenerationsOnceAndOnlyTheAccountsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		r := drawRequest(t, "2024-10-01", "2027-01-31")
		days, products := PlanDays(r, w.view), PlanReport(r, w.view)
		if len(days.Years)+len(days.Months) > 0 {
			t.Fatalf("day totals have no rollups: %+v", days)
		}
		for _, plan := range []Plan{days, products} {
			mustName(t, w.view.Manifest.Of(manifest.Year), plan.Years)
			mustName(t, w.view.Manifest.Of(manifest.Month), append(slices.Clone(plan.Months), plan.Days...))
			if plan.Account != w.view.Account && !plan.Empty() {
				t.Fatalf("the plan is of account %q", plan.Account)
			}
		}
	})
}

func mustName(t *rapid.T, live []manifest.Entry, named []Live) {
	seen := map[Live]bool{}
	for _, l := range named {
		if seen[l] || !slices.ContainsFunc(live, func(e manifest.Entry) bool { return e.Unit == l.Unit && e.Generation == l.Generation }) {
			t.Fatalf("%v is named twice or not live", l)
		}
		seen[l] = true
	}
}

// A plan that reads single days where a rollup would do is right but slow:
// single days answer only months that the period cuts.
func TestSingleDaysAnswerOnlyTheMonthsThatThePeriodCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		r := drawRequest(t, "2024-10-01", "2027-01-31")
		plan := PlanReport(r, w.view)
		for _, e := range w.view.Manifest.Of(manifest.Month) {
			first, _ := e.FirstHeld()
			last, _ := e.LastHeld()
			if slices.Contains(plan.Days, liveUnit(e)) && r.Period.Start <= first && last <= r.Period.End {
				t.Fatalf("%s is whole in %+v and read day by day", e, r.Period)
			}
		}
	})
}

func TestAPeriodWithoutHeldDaysOfTheFiltersIsEmpty(t *testing.T) {
	empty := View{Account: "a", Marketplaces: exampleView().Marketplaces}
	request := Request{Period: days("2025-01-01", "2025-01-31")}
	for name, plan := range map[string]Plan{
		"an account without a load":  PlanReport(request, empty),
		"its days":                   PlanDays(request, empty),
		"before the first held day":  PlanReport(Request{Period: days("2024-01-01", "2024-09-30")}, exampleView()),
		"after the last held day":    PlanDays(Request{Period: days("2026-11-20", "2027-01-01")}, exampleView()),
		"a country without reports":  PlanDays(Request{Period: days("2025-01-01", "2025-01-31"), Filters: Filters{Marketplaces: []string{"DE"}}}, exampleView()),
		"an ad product without days": PlanReport(Request{Period: days("2026-01-01", "2026-01-31"), Filters: Filters{AdProducts: []adlens.AdProduct{adlens.SponsoredDisplay}}}, exampleView()),
	} {
		if !plan.Empty() {
			t.Errorf("%s: %+v", name, plan)
		}
	}
}

// Both profiles of a country are requested by its code.
func TestACountryStandsForAllItsProfiles(t *testing.T) {
	plan := PlanDays(Request{Period: days("2026-11-18", "2026-11-18"), Filters: Filters{Marketplaces: []string{"UK"}}}, exampleView())
	if want := []uint32{212611, 312611}; !slices.Equal(generationsOf(plan.Days), want) {
		t.Errorf("got %v, want %d", plan.Days, want)
	}
}

// A unit whose reports all gave their days to newer ones holds nothing and
// neither answers nor keeps a year from being whole.
func TestAMonthWithoutHeldDaysIsPassedOver(t *testing.T) {
	s := manifest.Slice{Marketplace: usKey, AdProduct: adlens.SponsoredProducts}
	bare := manifest.Unit{Kind: manifest.Month, Slice: s, Start: day("2025-03-01")}
	v := exampleView()
	v.Manifest = manifest.New(1, append(holding(s, [2]string{"2025-01-05", "2025-02-20"}), manifest.Entry{Unit: bare, Generation: 5})...)
	plan := PlanReport(Request{Period: days("2025-01-01", "2025-03-31")}, v)
	if want := []uint32{112500}; !slices.Equal(generationsOf(plan.Years), want) || len(plan.Months)+len(plan.Days) > 0 {
		t.Errorf("got %+v", plan)
	}
}

// The rollup of a year of which one month is held has the rows of that
// month's: either would do, and the month serves more questions.
func TestAYearOfOneHeldMonthIsAnsweredByTheMonth(t *testing.T) {
	v := exampleView()
	s := manifest.Slice{Marketplace: usKey, AdProduct: adlens.SponsoredProducts}
	v.Manifest = manifest.New(1, holding(s, [2]string{"2025-03-05", "2025-03-20"})...)
	plan := PlanReport(Request{Period: days("2025-01-01", "2025-12-31")}, v)
	if want := []uint32{112503}; !slices.Equal(generationsOf(plan.Months), want) || len(plan.Years)+len(plan.Days) > 0 {
		t.Errorf("got %+v", plan)
	}
}

// A report without ids is cut into pages once all of it is in memory, where further
// measures are summed: what it reserves is not of a page.
// Where nothing divides by an id, all pages are made before one is cut, and else a ranking
// has the rows of the pages before.
func TestRowsWithoutIDsAreHeldOfAllPages(t *testing.T) {
	v := exampleView()
	for _, e := range v.Manifest.Of(manifest.Month) {
		e.Rows = 1000
		v.Manifest = v.Manifest.With(v.Manifest.Version, e)
	}
	for _, c := range []struct {
		dimensions, figures, campaigns, page string
		want                                 int
	}{
		{"date,marketplace,ad_product", "spend", "", "1", 10 + 3*3*31/3},
		{"date,marketplace,ad_product", "spend,units_sold_clicks_7d", "", "2", 10 + 3*3*31/3},
		{"date,marketplace,ad_product", "spend", "1,2", "1", 10 + 3*3*31/3},
		{"month", "spend", "", "1", 1},
		{"date,product", "spend", "", "1", 10},
		{"date,product", "spend", "", "21", 10 + 200/6},
	} {
		p := ReportParams{Dimensions: strings.Split(c.dimensions, ","), Figures: strings.Split(c.figures, ","),
			PeriodParams: PeriodParams{StartDate: "2025-01-01", EndDate: "2025-01-31"}, PagingParams: PagingParams{Page: c.page, PageSize: "10"}}
		if c.campaigns != "" {
			p.CampaignIDs = strings.Split(c.campaigns, ",")
		}
		r, faults := ParseReport(p, v, now)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if most, err := NewService(nil, nil).MostRows(t.Context(), v, r); most != c.want || err != nil {
			t.Errorf("of %+v %d rows are held: %v", c, most, err)
		}
	}
}
