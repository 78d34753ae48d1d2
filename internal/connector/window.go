package connector

import (
	"context"
	"maps"
	"slices"
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
	// reliable is for how many days reports certainly have all figures: of Sponsored
	// Products older ones may lack some, and would take those away that are held.
	reliable = 65
)

// task is what is due of one report type of a profile.
type task struct {
	profile     platform.Profile
	report      *platform.ReportType
	first, last adlens.Day          // that are due
	after       adlens.Refreshed    // what to note once it is read; zero for nothing
	deep        bool                // all that is still restated is read
	short       bool                // some days that are due are not among it
	later       bool                // some are requested only once the reports of them that wait are loaded
	refusals    int                 // by the platform since its last day ended
	kept        map[adlens.Day]bool // that are due and not read: they are held, and too old to be read again
	gone        int                 // days before the first that were never read, and that the platform no longer has

	open    []asked // reports that were requested for it, by this try or one before
	windows []*window

	// What the platform said of all reports of the type, for which the lock of
	// the pull is needed while reports are fetched.
	wall  adlens.Day // the first day that it still has; 0 where it did not say
	never error      // why it never gives the profile such reports
}

// window is one report of a task.
type window struct {
	*task
	start, end adlens.Day
	request    adlens.ReportRequest // zero where none was made yet
	progress   progress
	fresh      bool  // it was downloaded by this try
	waits      bool  // the loader refused it for want of rates or a list alone
	spare      bool  // it adds no day that is due, so the task does not wait for it
	err        error // why it is not here
}

// newTask returns what is due of a report type up to the last ended day, given
// how far it was read before (nil: never), without windows.
func newTask(account string, profile platform.Profile, t *platform.ReportType, before *adlens.Refreshed, last adlens.Day) (task, bool) {
	days, deep := dueDays(before, t, last)
	if days == 0 {
		return task{}, false
	}
	one := lastDays(profile, t, last, days)
	one.deep = deep
	if before != nil {
		one.gone = max(0, int(one.first-before.Through)-1)
	}
	one.after = adlens.Refreshed{Account: account, MarketplaceID: profile.ID, ReportType: t.ID, Through: last, DeepThrough: last}
	if !deep {
		one.after.DeepThrough = before.DeepThrough
	}
	return one, true
}

// chosenTask is the task of reading so many days of a report type (0 for all), whatever
// is due. Once it is read, it counts as far as it has the days that are due.
func chosenTask(account string, profile platform.Profile, t *platform.ReportType, before *adlens.Refreshed, last adlens.Day, days int) task {
	if days == 0 {
		days = allDays(before, t, last)
	}
	one := lastDays(profile, t, last, days)
	due, isDue := newTask(account, profile, t, before, last)
	switch {
	case !isDue:
	case one.first <= due.first:
		one.after, one.deep, one.gone = due.after, due.deep, due.gone
	case due.deep && before != nil && last > before.Through && days >= restatedDaily+int(last-before.Through)-1:
		one.after, one.short = due.after, true
		one.after.DeepThrough = before.DeepThrough
	default:
		one.short = true
	}
	return one
}

// lastDays is the task of reading the last days of a report type, as far as the
// platform has them.
func lastDays(profile platform.Profile, t *platform.ReportType, last adlens.Day, days int) task {
	return task{profile: profile, report: t, first: last - adlens.Day(min(days, lookBack[t.AdProduct])) + 1, last: last}
}

// keepHeld has a task leave days as they are that are held and of which reports are not
// reliable any more: they may have been loaded from files that the platform's answer
// would replace with less.
func (c *Connector) keepHeld(ctx context.Context, account string, t *task) error {
	newest := t.last - reliable
	if t.first > newest {
		return nil
	}
	held, err := c.Store.HeldDays(ctx, account, t.profile.ID, t.report.AdProduct)
	maps.DeleteFunc(held, func(day adlens.Day, _ bool) bool { return day < t.first || day > newest })
	t.kept = held
	return err
}

// planWindows divides the due days that are not kept among reports: those that were
// requested before and still count, and for what they leave new ones, each as long as the
// platform allows. What is on the disk and counts no more is loaded too: it may have
// waited until the platform had its first days no longer. A new report of the same days
// would take its place, on the disk and among the requests, so it is requested later.
func (t *task) planWindows(open []asked) {
	t.open, t.windows, t.later = nil, nil, false
	covered := map[adlens.Day]bool{}
	maps.Copy(covered, t.kept)
	for _, a := range open {
		if a.MarketplaceID != t.profile.ID || a.ReportType != t.report.ID {
			continue
		}
		t.open = append(t.open, a)
		before := len(covered)
		for day := max(a.Start, t.first); day <= min(a.End, t.last); day++ {
			if a.progress != lost && a.readOn >= readSince(day, t.last) {
				covered[day] = true
			}
		}
		counts := len(covered) > before
		if counts || a.progress == onDisk {
			t.windows = append(t.windows, &window{start: a.Start, end: a.End, request: a.ReportRequest, progress: a.progress, spare: !counts})
		}
		if counts && t.deep {
			t.after.DeepThrough = min(t.after.DeepThrough, a.readOn)
		}
	}
	for end := t.last; end >= t.first; end-- {
		if covered[end] {
			continue
		}
		start := end
		for start > t.first && !covered[start-1] && end-start+1 < api.MostDays(t.report) {
			start--
		}
		if slices.ContainsFunc(t.windows, func(w *window) bool { return w.spare && w.start == start && w.end == end }) {
			t.later = true
		} else {
			t.windows = append(t.windows, &window{start: start, end: end})
		}
		end = start
	}
	for _, w := range t.windows {
		w.task = t
	}
}

// readSince is the last ended day that a report of a day must have been
// requested on to count on another: the newest days are restated daily, the
// others weekly.
func readSince(day, last adlens.Day) adlens.Day {
	if day > last-restatedDaily {
		return last
	}
	return last - week + 1
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
// type that was read so far (nil: never): all of them at first and each week, what the
// platform restates daily each day. Days that were missed, because nothing ran, are made
// up for.
func dueDays(before *adlens.Refreshed, t *platform.ReportType, last adlens.Day) (days int, deep bool) {
	switch {
	case before == nil || last >= before.DeepThrough+week:
		return allDays(before, t, last), true
	case last > before.Through:
		return restatedDaily + int(last-before.Through) - 1, false
	}
	return 0, false
}

// allDays says how many days up to the last ended one there are to read of a report type
// that was read so far (nil: never): all that the platform has at first, and afterwards
// those that it still restates, those that were missed, and, as long as reports of them are
// reliable, those that were read for the last time before they were nearly final.
func allDays(before *adlens.Refreshed, t *platform.ReportType, last adlens.Day) int {
	if before == nil {
		return lookBack[t.AdProduct]
	}
	early := int(last-before.DeepThrough) + restatedWeekly - week
	return max(restatedWeekly, int(last-before.Through), min(early, reliable))
}
