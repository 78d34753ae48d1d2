package demo

import (
	"strconv"
	"time"
)

// Days without figures return once a year, in fixed months: any span of a year
// has all of them, and they do not move with today.

// outage is the day of that year on which the platform served no ads at all.
// It lies in the third week, outside the weeks that are written twice.
func outage(seed uint64, year int) day {
	return civil(year, time.February, 15+stream(seed, "outage", strconv.Itoa(year)).IntN(7))
}

// pausedWeek is the first of the seven days in May on which the German brand
// campaigns rest.
func pausedWeek(seed uint64, year int) day {
	return civil(year, time.May, 3+stream(seed, "pause", strconv.Itoa(year)).IntN(18))
}

// silent tells whether the marketplace has no figures of the ad type on a day.
func silent(seed uint64, m *market, t adType, d day) bool {
	year, _, _ := d.civil()
	return d == outage(seed, year) || resting(seed, m, t, d)
}

// resting tells the days on which the marketplace's campaigns of an ad type are
// paused, all of them.
func resting(seed uint64, m *market, t adType, d day) bool {
	if t != brands {
		return false
	}
	year, month, _ := d.civil()
	switch m.country {
	case "DE":
		first := pausedWeek(seed, year)
		return first <= d && d < first+7
	case "UK": // a budget year begins: the whole month's report is empty
		return month == time.April
	}
	return false
}
