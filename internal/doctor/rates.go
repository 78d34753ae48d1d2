package doctor

import (
	"fmt"
	"maps"
	"slices"

	"adlens"
)

// staleRates is for how many days the newest rate may be the newest: over Easter the
// European Central Bank publishes none for five.
const staleRates = 5

// checkRates looks whether every currency of a marketplace has rates of exchange of
// late. Without them its newest reports are refused.
func (e *examination) checkRates(c *checkup) (string, error) {
	today := adlens.DayOf(e.Now().UTC())
	var oldest, newest adlens.Day
	e.forEach(c, func(c *checkup, a account) error {
		spans, err := e.db.Connections.RateSpans(e.ctx, a.ID)
		if err != nil {
			return err
		}
		last := map[string]adlens.Day{}
		for _, s := range spans {
			last[s.Currency] = max(last[s.Currency], s.Last)
		}
		used := map[string]string{} // marketplaces by currency
		for _, m := range a.markets {
			if m.Currency != "USD" {
				used[m.Currency] = m.Country + " " + m.ID
			}
		}
		for _, currency := range slices.Sorted(maps.Keys(used)) {
			day, held := last[currency]
			switch {
			case a.isCanceled():
			case !held:
				c.addWarning(adviceOnRates(a, currency), "no rate of %s is held: reports of %s are refused", currency, used[currency])
			case day < today-staleRates:
				c.addWarning(adviceOnRates(a, currency), "the newest rate of %s is of %s, %d days ago", currency, day, today-day)
			}
			if held {
				newest = max(newest, day)
				if oldest == 0 || day < oldest {
					oldest = day
				}
			}
		}
		return nil
	})
	if newest == 0 {
		return "no marketplace in another currency than US dollars", nil
	}
	return fmt.Sprintf("the newest is of %s, every currency has one of %s or later", newest, oldest), nil
}

func adviceOnRates(a account, currency string) string {
	if a.IsDemo {
		return "adlens demo brings it up to date"
	}
	return fmt.Sprintf("adlens serve fetches rates, and adlens pull --account %s if it is connected, where the European Central Bank has any of %s; or load rates.csv, or the bank's eurofxref-hist.zip", a.ID, currency)
}
