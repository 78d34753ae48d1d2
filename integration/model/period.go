package model

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Period is the stretch of days that a request covers, both ends included.
type Period struct {
	Start, End, Range, Zone string
}

var lastDays = map[string]int{
	"last_7_days": 7, "last_14_days": 14, "last_30_days": 30,
	"last_60_days": 60, "last_90_days": 90,
}

// Ranges are the named ranges of the contract.
var Ranges = []string{
	"today", "yesterday", "last_7_days", "last_14_days", "last_30_days", "last_60_days",
	"last_90_days", "this_month", "last_month", "this_year", "last_year", "all_time",
}

// ResolvePeriod turns the period parameters of a request into days. Oldest is
// the account's oldest held day, or empty.
func ResolvePeriod(q url.Values, now time.Time, oldest string) (Period, error) {
	zone := "UTC"
	if q.Has("timezone") {
		zone = q.Get("timezone")
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		return Period{}, err
	}
	if q.Has("start_date") {
		return Period{q.Get("start_date"), q.Get("end_date"), "custom", zone}, nil
	}
	name := "last_30_days"
	if q.Has("range") {
		name = strings.ToLower(strings.TrimSpace(q.Get("range")))
	}
	start, end, err := namedRange(name, dayOf(now.In(place)), oldest)
	return Period{start, end, name, zone}, err
}

func namedRange(name, today, oldest string) (start, end string, err error) {
	if n := lastDays[name]; n > 0 {
		return AddDays(today, 1-n), today, nil
	}
	firstOfMonth := monthOf(today)
	firstOfYear := today[:4] + "-01-01"
	switch name {
	case "today":
		return today, today, nil
	case "yesterday":
		return AddDays(today, -1), AddDays(today, -1), nil
	case "this_month":
		return firstOfMonth, today, nil
	case "last_month":
		last := AddDays(firstOfMonth, -1)
		return monthOf(last), last, nil
	case "this_year":
		return firstOfYear, today, nil
	case "last_year":
		last := AddDays(firstOfYear, -1)
		return last[:4] + "-01-01", last, nil
	case "all_time":
		if oldest == "" || oldest > today {
			return today, today, nil
		}
		return oldest, today, nil
	}
	return "", "", fmt.Errorf("model: unknown range %q", name)
}

func (p Period) containsDay(day string) bool { return p.Start <= day && day <= p.End }

func (p Period) periodObject() map[string]any {
	return map[string]any{
		"start_date": p.Start, "end_date": p.End, "range": p.Range, "timezone": p.Zone,
	}
}
