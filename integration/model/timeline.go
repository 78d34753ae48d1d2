package model

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Timeline is the answer of /timeline.
func (a *Account) Timeline(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.request(q, now)
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
	answer := a.frame(r)
	answer["granularity"] = grain
	if r.compare != nil {
		answer["comparison"] = r.compare.head()
	}
	answer["data"] = a.points(r, grain)
	return answer, nil
}

// points lists the days or months of the period with figures in their order,
// and beside each the one of the same place in the earlier period.
func (a *Account) points(r request, grain string) []any {
	facts, then := a.selected(r)
	dates := r.period.dates(grain)
	sums := groupBy(facts, nil, func(f *fact) string { return bucket(f.day, grain) })
	var thenDates []string
	thenSums := map[string]*pair{}
	if r.compare != nil {
		thenDates = r.compare.dates(grain)
		thenSums = groupBy(then, nil, func(f *fact) string { return bucket(f.day, grain) })
	}
	data := []any{}
	for i := range max(len(dates), len(thenDates)) {
		date, thenDate := at(dates, i), at(thenDates, i)
		both := &pair{}
		if of := sums[date]; of != nil {
			both.now = of.now
		}
		if of := thenSums[thenDate]; of != nil {
			both.then = of.now
		}
		if both.none() {
			continue
		}
		point := both.put(r, map[string]any{"date": orNull(date)})
		if r.compare != nil {
			point["comparison"].(map[string]any)["date"] = orNull(thenDate)
		}
		data = append(data, point)
	}
	return data
}

// dates are the days, or the first days of the months, that the period touches.
func (p Period) dates(grain string) []string {
	var all []string
	for i := range DaysIn(p.Start, p.End) {
		all = append(all, bucket(AddDays(p.Start, i), grain))
	}
	return slices.Compact(all)
}

func bucket(day, grain string) string {
	if grain == "month" {
		return monthOf(day)
	}
	return day
}

func at(dates []string, i int) string {
	if i < len(dates) {
		return dates[i]
	}
	return ""
}
