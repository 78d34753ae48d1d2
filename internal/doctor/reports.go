package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/connector"
)

// askedLately is for how many days what the platform said of a profile is worth
// telling: it is asked again each day.
const askedLately = 3

// checkReports looks at reports that are not loaded and are no failure: those
// that wait for rates, and those that the platform does not have.
func (e *examination) checkReports(c *checkup) (string, error) {
	var nothing []string
	n := e.forConnected(c, func(c *checkup, a account, _ adlens.Connection) error {
		if err := e.warnWaiting(c, a); err != nil {
			return err
		}
		all, err := e.db.Connections.NothingOf(e.ctx, a.ID)
		for _, r := range all {
			nothing = append(nothing, e.describeNothing(a, r)...)
		}
		return err
	})
	switch {
	case n == 0:
		return "no account is connected to the platform", nil
	case len(nothing) > 0:
		return "none waits for rates; the platform has " + strings.Join(nothing, ", "), nil
	}
	return "none waits for rates", nil
}

// warnWaiting warns of reports that wait for rates.
func (e *examination) warnWaiting(c *checkup, a account) error {
	here := connector.New(connector.Config{Store: e.db.Connections, Now: e.Now})
	waiting, err := here.WaitingReports(e.ctx, a.ID, filepath.Join(e.Extracts, a.ID))
	var currencies []string
	for _, r := range waiting {
		for _, m := range a.markets {
			if m.ID == r.MarketplaceID && !slices.Contains(currencies, m.Currency) {
				currencies = append(currencies, m.Currency)
			}
		}
	}
	if len(waiting) > 0 {
		slices.Sort(currencies)
		first, last := waiting[0].Start, waiting[0].End
		for _, r := range waiting {
			first, last = min(first, r.Start), max(last, r.End)
		}
		c.addWarning("adlens load --account "+a.ID+" rates.csv with a rate of each day, or of one of the 7 days before it; adlens serve then loads them by itself",
			"%d downloaded reports of %s to %s wait to be loaded, for want of rates of %s", len(waiting), first, last, joinFew(currencies))
	}
	return err
}

// describeNothing says which reports the platform does not have.
func (e *examination) describeNothing(a account, r adlens.ReportRequest) []string {
	for _, m := range a.markets {
		asked := adlens.DayOf(r.RequestedAt)
		switch never := r.End >= asked-askedLately; {
		case m.ID != r.MarketplaceID:
		case never && asked >= adlens.DayOf(e.Now())-askedLately:
			return []string{fmt.Sprintf("no %s of %s %s at all (account %s)", r.ReportType, m.Country, m.ID, a.ID)}
		case !never:
			return []string{fmt.Sprintf("no %s of %s %s before %s, as it said on %s (account %s)", r.ReportType, m.Country, m.ID, r.End+1, asked, a.ID)}
		}
	}
	return nil
}
