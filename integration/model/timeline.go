package model

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Timeline is the answer of /timeline.
func (a *Account) Timeline(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.parseRequest(q, now)
	if err != nil {
		return nil, err
	}
	grain := strings.ToLower(strings.TrimSpace(q.Get("granularity")))
	if grain == "" || grain == "auto" {
		grain = "day"
		if DaysIn(r.period.Start, r.period.End) > 92 {
			grain = "month"
		}
	}
	answer := a.baseAnswer(r)
	answer["granularity"] = grain
	if r.compare != nil {
		answer["comparison"] = r.compare.comparisonHead()
	}
	answer["data"] = a.timelinePoints(r, grain)
	return answer, nil
}

// timelinePoints lists the days or months of the period with figures in their order,
// and beside each the one of the same place in the earlier period.
func (a *Account) timelinePoints(r request, grain string) []any {
	facts, then := a.selectFacts(r)
	dates := r.period.bucketDates(grain)
	sums := groupBy(facts, nil, func(f *fact) string { return bucketStart(f.day, grain) })
	var thenDates []string
	thenSums := map[string]*pair{}
	if r.compare != nil {
		thenDates = r.compare.bucketDates(grain)
		thenSums = groupBy(then, nil, func(f *fact) string { return bucketStart(f.day, grain) })
	}
	data := []any{}
	for i := range max(len(dates), len(thenDates)) {
		date, thenDate := dateAt(dates, i), dateAt(thenDates, i)
		both := &pair{}
		if of := sums[date]; of != nil {
			both.now = of.now
		}
		if of := thenSums[thenDate]; of != nil {
			both.then = of.now
		}
		if both.isZero(r) {
			continue
		}
		point := both.putWithComparison(r, map[string]any{"date": orNull(date)})
		if r.compare != nil {
			point["comparison"].(map[string]any)["date"] = orNull(thenDate)
		}
		data = append(data, point)
	}
	return data
}

// bucketDates are the days, or the first days of the weeks or months, that the period touches.
func (p Period) bucketDates(grain string) []string {
	var all []string
	for i := range DaysIn(p.Start, p.End) {
		all = append(all, bucketStart(AddDays(p.Start, i), grain))
	}
	return slices.Compact(all)
}

func bucketStart(day, grain string) string {
	switch grain {
	case "week":
		t, err := parseDay(day)
		if err != nil {
			panic("model: not a day: " + day)
		}
		for t.Weekday() != time.Monday {
			t = t.AddDate(0, 0, -1)
		}
		return dayOf(t)
	case "month":
		return monthOf(day)
	}
	return day
}

func dateAt(dates []string, i int) string {
	if i < len(dates) {
		return dates[i]
	}
	return ""
}
