package connector

import (
	"time"

	"adlens"
	"adlens/internal/query/period"
	"adlens/platform"
	"adlens/platform/api"
)

// lookBack is for how many days before today the platform still has a report
// type's figures.
var lookBack = map[adlens.AdProduct]int{adlens.SponsoredProducts: 95, adlens.SponsoredBrands: 60, adlens.SponsoredDisplay: 65}

// window is one report to ask for: some days of a slice.
type window struct {
	profile    platform.Profile
	report     *platform.ReportType
	start, end adlens.Day
}

// windows are the reports of a profile that cover its last days up to
// yesterday, by the profile's own calendar; 0 days are all that the platform
// has. Each is as long as the platform allows.
func windows(p platform.Profile, days int, now time.Time) ([]window, error) {
	zone, err := period.Zone(p.TimeZone)
	if err != nil {
		return nil, err
	}
	yesterday := period.DayIn(zone, now) - 1
	var all []window
	for _, t := range platform.ReportTypes {
		reach := lookBack[t.AdProduct]
		if days > 0 {
			reach = min(reach, days)
		}
		for end := yesterday; end > yesterday-adlens.Day(reach); end -= api.MaxReportDays {
			start := max(end-api.MaxReportDays+1, yesterday-adlens.Day(reach)+1)
			all = append(all, window{profile: p, report: t, start: start, end: end})
		}
	}
	return all, nil
}
