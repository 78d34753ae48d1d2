package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/connector"
	"adlens/internal/platform"
	"adlens/loader"
)

// askedLately is for how many days what the platform said of a profile is worth
// telling: it is asked again each day.
const askedLately = 3

// checkReports looks at reports that are not loaded: those that were downloaded, and
// those that the platform does not have.
func (e *examination) checkReports(c *checkup) (string, error) {
	var nothing []string
	n := e.forConnected(c, func(c *checkup, a account, connection adlens.Connection) error {
		if err := e.warnWaiting(c, a, connection); err != nil {
			return err
		}
		all, err := e.db.Connections.NothingOf(e.ctx, a.ID)
		for _, r := range all {
			if slices.Contains(connection.Profiles, r.MarketplaceID) {
				nothing = append(nothing, e.describeNothing(a, r)...)
			}
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

// warnWaiting warns of reports of a connection's profiles that were downloaded and are
// not loaded, but for those that a refresh under way is about to load. Those in US dollars
// need no rate, others may have theirs, and legacy ones may wait for a list.
func (e *examination) warnWaiting(c *checkup, a account, connection adlens.Connection) error {
	if e.isBusy(connector.ReportsWork(a.ID, connection.Name)) {
		return nil
	}
	spans, err := e.db.Connections.RateSpans(e.ctx, a.ID)
	if err != nil {
		return err
	}
	hasRates := func(currency string, r adlens.ReportRequest) bool {
		return currency == "USD" || slices.ContainsFunc(spans, func(s loader.RateSpan) bool {
			return s.Currency == currency && s.First <= r.Start && r.End <= s.Last+loader.RateReach
		})
	}
	here := connector.New(connector.Config{Store: e.db.Connections, Now: e.Now})
	waiting, err := here.WaitingReports(e.ctx, a.ID, filepath.Join(e.Extracts, a.ID))
	var currencies []string
	var forRates, others []adlens.ReportRequest
	for _, r := range waiting {
		for _, m := range a.markets {
			switch {
			case m.ID != r.MarketplaceID || !slices.Contains(connection.Profiles, m.ID):
			case hasRates(m.Currency, r) || r.ReportType == platform.LegacyReportType.ID:
				others = append(others, r)
			default:
				forRates = append(forRates, r)
				if !slices.Contains(currencies, m.Currency) {
					currencies = append(currencies, m.Currency)
				}
			}
		}
	}
	if len(forRates) > 0 {
		slices.Sort(currencies)
		c.addWarning("adlens load --account "+a.ID+" rates.csv with a rate of each day, or of one of the 7 days before it; adlens serve then loads them by itself",
			"%s wait to be loaded, for want of rates of %s", describeWaiting(forRates), joinFew(currencies))
	}
	if len(others) > 0 {
		c.addWarning("the log of adlens serve says what they wait for, as a list that names their campaigns; it loads them by itself, as adlens pull --account "+a.ID+" does",
			"%s are not loaded yet", describeWaiting(others))
	}
	return err
}

// describeWaiting says how many reports there are, and of which days.
func describeWaiting(all []adlens.ReportRequest) string {
	first, last := all[0].Start, all[0].End
	for _, r := range all {
		first, last = min(first, r.Start), max(last, r.End)
	}
	return fmt.Sprintf("%d downloaded reports of %s to %s", len(all), first, last)
}

// describeNothing says which reports the platform does not have.
func (e *examination) describeNothing(a account, r adlens.ReportRequest) []string {
	for _, m := range a.markets {
		asked := adlens.DayOf(r.RequestedAt)
		switch never := r.End >= asked-askedLately; {
		case m.ID != r.MarketplaceID:
		case never && asked >= adlens.DayOf(e.Now().UTC())-askedLately:
			return []string{fmt.Sprintf("no %s of %s %s at all (account %s)", r.ReportType, m.Country, m.ID, a.ID)}
		case !never:
			return []string{fmt.Sprintf("no %s of %s %s before %s, as it said on %s (account %s)", r.ReportType, m.Country, m.ID, r.End+1, asked, a.ID)}
		}
	}
	return nil
}
