package query

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/model"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/query/period"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// changeOracle computes a change from the definitions of the contract, in
// fractions: percent of the earlier value for what is summed, the difference
// of exact values for ratios.
func changeOracle(name string, s *sides) string {
	now, then := fraction(name, s[current]), fraction(name, s[earlier])
	if now == nil || then == nil {
		return "null"
	}
	change := new(big.Rat).Sub(now, then)
	if !catalogue.Figures[slices.Index(catalogue.FigureNames, name)].IsRatio() {
		if then.Sign() == 0 {
			return "null"
		}
		change.Mul(change.Quo(change, then), big.NewRat(100, 1))
	}
	text := change.FloatString(2)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}

// fraction is a figure as a fraction by the oracle, nil without its base.
func fraction(name string, s exact.Sums) *big.Rat {
	r, _ := model.Figure(name, sumAt(s, impressions).Big(), sumAt(s, clicks).Big(), sumAt(s, purchases).Big(), sumAt(s, spend).Big(), sumAt(s, catalogue.Sales).Big())
	return r
}

// thisYear compares 2026 with the year before; the example covers both.
var thisYear = Request{Period: days("2026-01-01", "2026-11-19"), Earlier: period.Period{Start: day("2025-01-01"), End: day("2025-11-19"), Range: period.PreviousYear}}

func TestChangesAreMadeOfExactValues(t *testing.T) {
	a := Answer{thisYear, Meta{EarlierCovered: true}, Request{}.quotients()}
	rapid.Check(t, func(t *rapid.T) {
		s := &sides{drawSums(t), drawSums(t)}
		if rapid.Bool().Draw(t, "nearly the same") {
			s[earlier] = slices.Clone(s[current])
			s[earlier][spend].Add(exact.Uint128{Lo: rapid.Uint64Range(0, 9999).Draw(t, "more")})
		}
		before := text(s[current]) + text(s[earlier])
		c := a.comparisonOf(s)
		for i, f := range catalogue.Figures {
			if got, want := shown(c.Change[i]), changeOracle(f.Name, s); got != want {
				t.Fatalf("%s from %s to %s changed by %s, want %s", f.Name, text(s[earlier]), text(s[current]), got, want)
			}
			if got, want := shown(c.Figures[i]), oracle(f.Name, s[earlier]); got != want {
				t.Fatalf("%s of %s is %s, want %s", f.Name, text(s[earlier]), got, want)
			}
		}
		if before != text(s[current])+text(s[earlier]) {
			t.Fatal("comparing changed the sums")
		}
	})
}

// The rounded values would give another answer each time.
func TestChangesAreNotMadeOfWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		name      string
		now, then exact.Sums
		want      string
	}{
		{"spend", sums(0, 0, 0, 14_000, 0), sums(0, 0, 0, 6_000, 0), "133.33"},             // shown 0.01 and 0.01
		{"spend", sums(0, 0, 0, 1_004_000, 0), sums(0, 0, 0, 4_000, 0), "25000.00"},        // shown 1.00 and 0.00
		{"spend", sums(0, 0, 0, 0, 0), sums(0, 0, 0, 1, 0), "-100.00"},                     // shown 0.00 twice
		{"acos", sums(0, 0, 0, 1_004, 1_000_000), sums(0, 0, 0, 1_006, 1_000_000), "0.00"}, // no zero has a sign
		{"acos", sums(0, 0, 0, 0, 1_000_000), sums(0, 0, 0, 50, 1_000_000), "-0.01"},       // half away from zero, below it too
		{"acos", sums(0, 0, 0, 50, 1_000_000), sums(0, 0, 0, 0, 1_000_000), "0.01"},
		{"clicks", sums(0, 199, 0, 0, 0), sums(0, 200, 0, 0, 0), "-0.50"},
		{"clicks", sums(0, 1, 0, 0, 0), sums(0, 3, 0, 0, 0), "-66.67"},
		{"clicks", sums(0, 7, 0, 0, 0), sums(0, 0, 0, 0, 0), "null"},
		{"roas", sums(0, 0, 0, 1_000_000, 4_500_000), sums(0, 0, 0, 2_000_000, 4_000_000), "2.50"},
		{"average_cpc", sums(0, 3, 0, 1_000_000, 0), sums(0, 4, 0, 1_000_000, 0), "0.08"}, // 0.0833
		{"ctr", sums(0, 0, 0, 0, 0), sums(10, 1, 0, 0, 0), "null"},
	} {
		change := Request{Sort: c.name}.sortQuotient().computeChange(&sides{c.now, c.then})
		if got := shown(change); got != c.want {
			t.Errorf("%s from %s to %s changed by %s, want %s", c.name, text(c.then), text(c.now), got, c.want)
		}
	}
}

func TestNothingChangedSinceDaysThatAreNotCovered(t *testing.T) {
	a := Answer{thisYear, Meta{EarlierCovered: false}, Request{}.quotients()}
	c := a.comparisonOf(&sides{sums(9, 8, 7, 6, 5), sums(1, 2, 3, 4, 5)})
	for i, f := range catalogue.Figures {
		if !c.Change[i].Null() {
			t.Errorf("%s changed by %s", f.Name, shown(c.Change[i]))
		}
	}
	if figure(c.Figures, "clicks") != "2" {
		t.Error("the figures that are held are not shown")
	}
	if plain := (&Answer{january, Meta{}, Request{}.quotients()}).comparisonOf(&sides{}); plain != nil {
		t.Errorf("nothing is compared: %+v", plain)
	}
}

func TestTheEarlierPeriodIsCoveredFromTheOldestDayOn(t *testing.T) {
	for start, want := range map[string]bool{"2024-09-30": false, "2024-10-01": true, "2024-10-02": true} {
		r := thisYear
		r.Earlier.Start = day(start)
		if got := newAnswer(r, exampleView()).Meta.EarlierCovered; got != want {
			t.Errorf("from %s: covered is %v", start, got)
		}
	}
	if newAnswer(thisYear, View{}).Meta.EarlierCovered {
		t.Error("an account without days covers a period")
	}
}

// Both periods stop at yesterday, which is 19 November here, and elsewhere
// another day.
func TestComparedPeriodsStopAtYesterday(t *testing.T) {
	for _, c := range []struct {
		period             PeriodParams
		compare, want, was string
	}{
		{PeriodParams{}, "previous_period", "2026-10-22..2026-11-19", "2026-09-23..2026-10-21"},
		{ranged("last_7_days"), " Previous_PERIOD ", "2026-11-14..2026-11-19", "2026-11-08..2026-11-13"},
		{ranged("yesterday"), "previous_period", "2026-11-19..2026-11-19", "2026-11-18..2026-11-18"},
		{ranged("this_month"), "previous_year", "2026-11-01..2026-11-19", "2025-11-01..2025-11-19"},
		{ranged("last_month"), "previous_period", "2026-10-01..2026-10-31", "2026-08-31..2026-09-30"},
		{ranged("all_time"), "previous_period", "2024-10-01..2026-11-19", "2022-08-13..2024-09-30"},
		{between("2026-11-01", "2030-01-01"), "PREVIOUS_YEAR", "2026-11-01..2026-11-19", "2025-11-01..2025-11-19"},
		{between("2024-02-29", "2025-02-28"), "previous_year", "2024-02-29..2025-02-28", "2023-02-28..2024-02-28"},
		{PeriodParams{Range: "last_7_days", TimeZone: "Pacific/Kiritimati"}, "previous_period", "2026-11-15..2026-11-20", "2026-11-09..2026-11-14"},
		{PeriodParams{StartDate: "2026-11-20", EndDate: "2026-11-20", TimeZone: "Pacific/Kiritimati"}, "previous_year", "2026-11-20..2026-11-20", "2025-11-20..2025-11-20"},
	} {
		r, faults := ParseSummary(SummaryParams{PeriodParams: c.period, Compare: c.compare}, exampleView(), now)
		mustNotFail(t, faults)
		got, was := fmt.Sprint(r.Period.Start, "..", r.Period.End), fmt.Sprint(r.Earlier.Start, "..", r.Earlier.End)
		if got != c.want || was != c.was || string(r.Earlier.Range) != lowerASCII(strings.Trim(c.compare, " ")) {
			t.Errorf("%+v by %s: %s after %s (%s), want %s after %s", c.period, c.compare, got, was, r.Earlier.Range, c.want, c.was)
		}
		plain, faults := ParseSummary(SummaryParams{PeriodParams: c.period, Compare: "none"}, exampleView(), now)
		mustNotFail(t, faults)
		if plain.Compared() || plain.Period.Range != r.Period.Range {
			t.Errorf("%+v: %+v beside %+v", c.period, plain.Period, r.Period)
		}
	}
}

func TestComparisonsOfNoDayAreRefused(t *testing.T) {
	for name, p := range map[string]PeriodParams{
		"today": ranged("today"), "tomorrow on": between("2026-11-21", "2027-01-01"), "today as dates": between("2026-11-20", "2026-11-20"),
	} {
		_, faults := ParseTimeline(TimelineParams{PeriodParams: p, Compare: "previous_year", Granularity: "day"}, exampleView(), now)
		mustRefuse(t, name, faults, refusal{parameter: "compare", value: "previous_year", code: adlens.InvalidParameter})
		mustMention(t, faults[0], "2026-11-19", "UTC")
	}
	_, faults := ParseProducts(ProductParams{PeriodParams: PeriodParams{Range: "today", TimeZone: "Pacific/Pago_Pago"}, Compare: "previous_period"}, exampleView(), now.Add(-11*time.Hour))
	mustMention(t, faults[0], "2026-11-18", "2026-11-19", "Pacific/Pago_Pago")
	_, faults = ParseSummary(SummaryParams{PeriodParams: between("0001-06-01", "0002-06-01"), Compare: "previous_year"}, exampleView(), now)
	mustRefuse(t, "before the calendar", faults, refusal{parameter: "compare", value: "previous_year", code: adlens.InvalidParameter})
	mustMention(t, faults[0], "0001-01-01")
}

// Where the period is in doubt, the comparison is not blamed for it.
func TestComparisonsAreNotBlamedForAPeriodThatIsWrong(t *testing.T) {
	for name, p := range map[string]PeriodParams{
		"range": ranged("todya"), "start_date": {StartDate: "2026-13-01", EndDate: "2027-01-01"}, "end_date": between("2020-01-01", "2029-01-01"),
		"timezone": {Range: "today", TimeZone: "Mars"},
	} {
		_, faults := ParseProducts(ProductParams{PeriodParams: p, Compare: "previous_year"}, exampleView(), now)
		if len(faults) != 1 || faults[0].Parameter != name {
			t.Errorf("%s: %+v", name, faults)
		}
	}
}

// 93 days that end today are 92 that end yesterday.
func TestTheGranularityGoesByTheDaysThatAreCompared(t *testing.T) {
	p := between("2026-08-20", "2026-11-20")
	for compare, want := range map[string]string{"none": ByMonth, "previous_period": ByDay} {
		r, faults := ParseTimeline(TimelineParams{PeriodParams: p, Compare: compare}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Granularity != want {
			t.Errorf("compare %s: by %s, want %s", compare, r.Granularity, want)
		}
	}
	_, faults := ParseTimeline(TimelineParams{PeriodParams: p, Compare: "previous_year", Granularity: "day"}, exampleView(), now)
	mustNotFail(t, faults)
}

func TestEveryComparisonHasAnIdentityOfItsOwn(t *testing.T) {
	of := func(compare string, p PeriodParams) string {
		return identityOf(t, ProductParams{PeriodParams: p, Compare: compare}, exampleView(), now)
	}
	lastMonth := ranged("last_month")
	if of("", lastMonth) != of("NONE", lastMonth) || of("Previous_Year", lastMonth) != of("previous_year", lastMonth) {
		t.Error("another spelling has another identity")
	}
	if a, b := of("previous_period", lastMonth), of("previous_year", lastMonth); a == b || a == of("", lastMonth) || b == of("", lastMonth) {
		t.Error("two comparisons have one identity")
	}
	// These have the same earlier days, and say another word for them.
	day := between("2026-03-01", "2026-03-01")
	if of("previous_period", day) == of("previous_year", day) {
		t.Error("the way to compare is no part of the identity")
	}
}

// outlineOf is which points a timeline has: their dates and clicks.
func outlineOf(t *Timeline) (all []string) {
	written := func(d *adlens.Day) string {
		if d == nil {
			return "none"
		}
		return d.String()
	}
	for _, p := range t.Points {
		all = append(all, fmt.Sprint(written(p.Date), " ", figure(p.Figures, "clicks"), ", ", written(p.Comparison.Date), " ", figure(p.Comparison.Figures, "clicks")))
	}
	return all
}

func TestPointsAreAlignedFromTheStartOfTheirPeriods(t *testing.T) {
	type point struct {
		date   string
		clicks int64
	}
	add := func(all map[group]*sides, r Request, side int, start adlens.Day, points []point) {
		for _, p := range points {
			sumsAt(all, group{bucket: r.offsetFrom(start, day(p.date))}, side).AddSums(sums(0, p.clicks, 0, 0, 0))
		}
	}
	for name, c := range map[string]struct {
		start, end, granularity string
		way                     period.Name
		now, then               []point
		want                    []string
	}{
		"a leap day now": {"2024-02-27", "2024-03-01", ByDay, period.PreviousYear,
			[]point{{"2024-02-29", 1}, {"2024-03-01", 2}}, []point{{"2023-02-27", 3}, {"2023-03-01", 4}},
			[]string{"2024-02-27 0, 2023-02-27 3", "2024-02-29 1, 2023-03-01 4", "2024-03-01 2, none 0"}},
		"a leap day then": {"2025-02-27", "2025-03-01", ByDay, period.PreviousYear,
			[]point{{"2025-03-01", 1}}, []point{{"2024-02-29", 3}, {"2024-03-01", 4}},
			[]string{"2025-03-01 1, 2024-02-29 3", "none 0, 2024-03-01 4"}},
		"as many months": {"2026-03-15", "2026-05-14", ByMonth, period.PreviousPeriod,
			[]point{{"2026-03-01", 1}, {"2026-05-01", 2}}, []point{{"2026-01-01", 3}, {"2026-02-01", 4}, {"2026-03-01", 5}},
			[]string{"2026-03-01 1, 2026-01-01 3", "2026-04-01 0, 2026-02-01 4", "2026-05-01 2, 2026-03-01 5"}},
		"fewer months then": {"2026-01-31", "2026-03-01", ByMonth, period.PreviousPeriod,
			[]point{{"2026-03-01", 1}}, []point{{"2026-01-01", 5}},
			[]string{"2026-01-01 0, 2026-01-01 5", "2026-03-01 1, none 0"}},
		// 31 December 2025 and 7 January 2026 are Wednesdays; five weeks are touched now, and four then.
		"weeks": {"2026-01-07", "2026-02-03", ByWeek, period.PreviousPeriod,
			[]point{{"2026-01-05", 1}, {"2026-02-02", 2}}, []point{{"2025-12-08", 3}, {"2025-12-29", 4}, {"2026-01-05", 5}},
			[]string{"2026-01-05 1, 2025-12-08 3", "2026-01-26 0, 2025-12-29 4", "2026-02-02 2, 2026-01-05 5"}},
		"a year's end": {"2026-01-01", "2026-02-28", ByMonth, period.PreviousPeriod,
			nil, []point{{"2025-11-01", 3}, {"2025-12-01", 4}},
			[]string{"2026-01-01 0, 2025-11-01 3", "2026-02-01 0, 2025-12-01 4"}},
	} {
		r := Request{Period: days(c.start, c.end), Granularity: c.granularity}
		r.Earlier = r.Period.Earlier(c.way)
		all := map[group]*sides{}
		add(all, r, current, r.Period.Start, c.now)
		add(all, r, earlier, r.Earlier.Start, c.then)
		if diff := gocmp.Diff(c.want, outlineOf(newTimeline(r, exampleView(), all))); diff != "" {
			t.Errorf("%s, %s..%s (-want +got):\n%s", name, r.Earlier.Start, r.Earlier.End, diff)
		}
	}
}

// drawCompared is a random question that is compared.
func drawCompared(t *rapid.T) Request {
	r := drawRequest(t, "2024-09-01", "2027-01-31")
	r.Earlier = r.Period.Earlier(rapid.SampledFrom([]period.Name{period.PreviousPeriod, period.PreviousYear}).Draw(t, "compare"))
	r.Granularity = rapid.SampledFrom([]string{ByDay, ByWeek, ByMonth}).Draw(t, "granularity")
	return r
}

// A comparison shows of either period exactly what is shown of it alone.
func TestBothSidesOfAComparisonAreThoseAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, v, ctx := NewService(drawShop(t).asDays(), nil), exampleView(), context.Background()
		r := drawCompared(t)
		plain := r
		plain.Earlier = period.Period{}
		both, err := s.Timeline(ctx, v, r)
		now, errNow := s.Timeline(ctx, v, plain)
		then, errThen := s.Timeline(ctx, v, r.EarlierRequest())
		mustSucceed(t, err, errNow, errThen)
		mustShow(t, pointsOf(both, false), pointsOf(now, false))
		mustShow(t, pointsOf(both, true), pointsOf(then, false))
		summary, err := s.Summary(ctx, v, r)
		was, errThen := s.Summary(ctx, v, r.EarlierRequest())
		mustSucceed(t, err, errThen)
		parts := map[string]string{}
		for _, m := range summary.ByMarketplace {
			parts[m.Marketplace.ID] = figuresText(m.Comparison.Figures)
		}
		for _, p := range summary.ByAdProduct {
			parts[p.AdProduct.String()] = figuresText(p.Comparison.Figures)
		}
		for _, m := range was.ByMarketplace {
			mustShow(t, parts[m.Marketplace.ID], figuresText(m.Figures))
		}
		for _, p := range was.ByAdProduct {
			mustShow(t, parts[p.AdProduct.String()], figuresText(p.Figures))
		}
		mustShow(t, figuresText(summary.Comparison.Figures), figuresText(was.Total))
	})
}

func mustSucceed(t *rapid.T, errs ...error) {
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func mustShow[T any](t *rapid.T, got, want T) {
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("(-alone +compared):\n%s", diff)
	}
}

func figuresText(f Figures) (text string) {
	for _, value := range f {
		text += " " + shown(value)
	}
	return text
}

// pointsOf are the points of one side that have figures, by their dates.
func pointsOf(t *Timeline, then bool) map[string]string {
	zeros, all := figuresText(FiguresOf(nil)), map[string]string{}
	for _, p := range t.Points {
		date, figures := p.Date, p.Figures
		if then {
			date, figures = p.Comparison.Date, p.Comparison.Figures
		}
		if text := figuresText(figures); text != zeros {
			all[date.String()] = text // a side with figures has its date
		}
	}
	return all
}

// asDays is the same rows as day totals of their generations.
func (s *shop) asDays() *rollup {
	r := &rollup{rows: map[uint32][]DayTotal{}}
	for generation, rows := range s.rows {
		for _, row := range rows {
			total := DayTotal{Generation: generation, Day: row.Day}
			for i, m := range row.Measures {
				total.Sums[i].Lo = m
			}
			r.rows[generation] = append(r.rows[generation], total)
		}
	}
	return r
}

// Products of either period are listed, and those of the earlier one alone
// sort as zeros, at every sort and on every page.
func TestComparedPagesAreTogetherTheProductsOfEitherPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, names := drawReport(t)
		for i := range rows {
			rows[i].then = drawCounts(t)
		}
		r := drawSorting(t)
		r.Earlier = r.Period.Earlier(period.PreviousYear)
		listed := map[string]bool{}
		for _, row := range rows {
			if row.now != (counts{}) || row.then != (counts{}) {
				listed[names.ids[row.key]] = true
			}
		}
		whole := tallied(r, exampleView(), rows, names)
		for i, row := range rowsOf(whole) {
			delete(listed, row.ID)
			if i > 0 && before(positionOf(rowsOf(whole)[i-1], r), positionOf(row, r), r) >= 0 {
				t.Fatalf("by %s %s, %+v is listed before %+v", r.Sort, r.Order, rowsOf(whole)[i-1], row)
			}
		}
		if len(listed) > 0 || whole.TotalRows != len(rowsOf(whole)) {
			t.Fatalf("%d rows, counted %d, and %v are missing", len(rowsOf(whole)), whole.TotalRows, listed)
		}
		r.All, r.PageSize = false, rapid.IntRange(1, 7).Draw(t, "page size")
		together := []string{}
		for next := true; next; r.Page++ {
			report := tallied(r, exampleView(), rows, names)
			mustCount(t, report, len(rowsOf(whole)))
			together = append(together, productsAsText(report)[1:]...)
			_, next = report.Request.NextPage(report.TotalRows)
		}
		mustShow(t, together, productsAsText(whole)[1:])
	})
}

// One statement reads the products of both periods, and none is run where nothing
// is held of either.
func TestASideWithoutHeldDaysIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		period, earlier period.Period
		read            []string // parameters
	}{
		"both":    {days("2026-01-01", "2026-01-31"), days("2025-12-01", "2025-12-31"), []string{"months", "earlier_months"}},
		"now":     {days("2024-10-01", "2024-10-31"), days("2024-09-01", "2024-09-30"), []string{"months"}},
		"then":    {days("2027-10-01", "2027-10-31"), days("2026-09-01", "2026-09-30"), []string{"earlier_months"}},
		"neither": {days("2027-10-01", "2027-10-31"), days("2027-09-01", "2027-09-30"), nil},
	} {
		e := newEngine()
		e.ranked = []RankedRow{{ID: "P1", Marketplaces: []uint16{usKey}, Sums: sums(1, 1, 1, 1, 1)}}
		c.earlier.Range = period.PreviousPeriod
		r := Request{Period: c.period, Earlier: c.earlier, Sort: "spend", Order: Descending, Paging: Paging{Page: 1, PageSize: 9}}
		report, err := NewService(e, nil).Products(context.Background(), e.view, r)
		asked, ranked := min(len(c.read), 1), 0
		for _, s := range e.asked {
			if strings.Contains(s.SQL, "day_totals") {
				continue // of which the totals are
			}
			ranked++
			for _, parameter := range []string{"months", "earlier_months"} {
				if _, read := s.Params[parameter]; read != slices.Contains(c.read, parameter) {
					t.Errorf("%s: %s is read: %v", name, parameter, read)
				}
			}
		}
		if err != nil || ranked != asked || len(rowsOf(report)) != asked {
			t.Errorf("%s: %d statements, %+v, %v", name, ranked, report, err)
		}
	}
}
