package demo

import (
	"math"
	"strconv"
	"time"

	"adlens"
)

// nthWeekday gives the month's n-th day of that weekday.
func nthWeekday(y int, m time.Month, w time.Weekday, n int) adlens.Day {
	first := adlens.Date(y, m, 1)
	ahead := (int(w) - int(first.Time().Weekday()) + 7) % 7
	return first + adlens.Day(ahead+7*(n-1))
}

// weekdays is the week's rhythm, Sunday first: people shop at weekends.
var weekdays = [7]float64{1.13, 1.05, 1.00, 0.97, 0.94, 0.90, 1.01}

// seasonFactor is how much more than on an ordinary day everybody shops.
func seasonFactor(d adlens.Day) float64 {
	y, m, dom := d.Time().Date()
	switch {
	case isSale(d):
		return 2.5
	case m == time.November:
		return 1 + 0.022*float64(dom)
	case m == time.December && dom <= 20:
		return 1.65 + 0.012*float64(dom)
	case m == time.December:
		return 0.85
	case m == time.January:
		return 0.84 + 0.004*float64(dom)
	case m == time.July && d < nthWeekday(y, time.July, time.Tuesday, 2):
		return 0.93 // shoppers wait for the sale
	}
	return 1
}

// isSale reports whether a day is one of the two days of the July event and the four that follow the
// fourth Thursday of November.
func isSale(d adlens.Day) bool {
	y, m, _ := d.Time().Date()
	switch m {
	case time.July:
		tuesday := nthWeekday(y, time.July, time.Tuesday, 2)
		return d == tuesday || d == tuesday+1
	case time.November, time.December:
		thursday := nthWeekday(y, time.November, time.Thursday, 4)
		return d > thursday && d <= thursday+4
	}
	return false
}

// summerWave swings from -1 in mid-January to 1 in mid-July.
func summerWave(d adlens.Day) float64 {
	return math.Cos(2 * math.Pi * float64(d.Time().YearDay()-196) / 365.25)
}

// growthFactor rises along an S around the middle year: it has a floor and a
// ceiling, so that a demonstration of any decade stays of one size.
func growthFactor(d adlens.Day, middle float64) float64 {
	years := 1970 + float64(d)/365.2425
	return 0.6 + 1.4/(1+math.Exp(-(years-middle)/1.4))
}

// moodFactor is a slow wave in how readily people buy; markets are out of step.
func moodFactor(d adlens.Day, middle float64) float64 {
	return 1 + 0.1*math.Sin(2*math.Pi*float64(d)/410+middle*2)
}

// Days without figures return once a year, in fixed months: any span of a year
// has all of them, and they do not move with today.

// outageDay is the day of that year on which the platform served no ads at all.
// It lies in the third week, outside the weeks that are written twice.
func outageDay(seed uint64, year int) adlens.Day {
	return adlens.Date(year, time.February, 15+newStream(seed, "outage", strconv.Itoa(year)).IntN(7))
}

// pausedWeek is the first of the seven days in May on which the German brand
// campaigns rest.
func pausedWeek(seed uint64, year int) adlens.Day {
	return adlens.Date(year, time.May, 3+newStream(seed, "pause", strconv.Itoa(year)).IntN(18))
}

// lacksFigures reports whether the marketplace has no figures of the ad product on a day.
func lacksFigures(seed uint64, m *market, p adlens.AdProduct, d adlens.Day) bool {
	return d == outageDay(seed, d.Year()) || isPaused(seed, m, p, d)
}

// isPaused reports whether all of the marketplace's campaigns of an ad product are
// paused on a day.
func isPaused(seed uint64, m *market, p adlens.AdProduct, d adlens.Day) bool {
	if p != adlens.SponsoredBrands {
		return false
	}
	year, month, _ := d.Time().Date()
	switch m.country {
	case "DE":
		first := pausedWeek(seed, year)
		return first <= d && d < first+7
	case "UK": // a budget year begins: the whole month's report is empty
		return month == time.April
	}
	return false
}
