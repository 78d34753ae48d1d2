package connector

import (
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/internal/query/period"
)

// lookBack is for how many days before today the platform still has a report
// type's figures.
var lookBack = map[adlens.AdProduct]int{adlens.SponsoredProducts: 95, adlens.SponsoredBrands: 60, adlens.SponsoredDisplay: 65}

// What the platform restates: sales of the last days are credited late, and
// clicks are taken back for up to two months.
const (
	restatedDaily  = 14 // days that are read again each day
	restatedWeekly = 60 // days that are read again each week
	week           = 7
)

// window is one report to ask for: some days of a slice.
type window struct {
	profile    platform.Profile
	report     *platform.ReportType
	start, end adlens.Day
}

// reportWindows are the reports that cover the last days of a profile up to a day.
// Each is as long as the platform allows.
func reportWindows(p platform.Profile, t *platform.ReportType, last adlens.Day, days int) []window {
	var all []window
	first := last - adlens.Day(min(days, lookBack[t.AdProduct])) + 1
	for end := last; end >= first; end -= api.MaxReportDays {
		all = append(all, window{profile: p, report: t, start: max(end-api.MaxReportDays+1, first), end: end})
	}
	return all
}

// LastEnded is the newest day that has ended where a profile is. Where that
// cannot be told, because its zone is not known here, it is the newest day that
// has ended everywhere.
func LastEnded(p platform.Profile, now time.Time) adlens.Day {
	zone, err := period.Zone(p.TimeZone)
	if err != nil {
		zone = lastOnEarth
	}
	return period.DayIn(zone, now) - 1
}

var lastOnEarth = time.FixedZone("UTC-12", -12*60*60)

// dueDays says how many days up to the last ended one have to be read of a report
// type that was read so far (nil: never): all that the platform has at first,
// what it restates daily each day, what it restates at all each week. Days
// that were missed, because nothing ran, are made up for.
func dueDays(before *adlens.Refreshed, t *platform.ReportType, last adlens.Day) (days int, deep bool) {
	switch {
	case before == nil:
		return lookBack[t.AdProduct], true
	case last >= before.DeepThrough+week:
		return restatedWeekly + int(last-before.DeepThrough) - week, true
	case last > before.Through:
		return restatedDaily + int(last-before.Through) - 1, false
	}
	return 0, false
}
