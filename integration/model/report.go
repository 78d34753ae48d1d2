package model

import (
	"cmp"
	"math/big"
	"time"
)

// report is one accepted download with the description that came with it.
type report struct {
	id, profile, adProduct, start, end string
	generated                          time.Time
	columns                            []string // that it was asked for
	rows                               []row
	settled                            bool // a whole command ended since it came
	legacy                             bool // of version 2: it speaks next to the v3 one
}

// row is one line of a download, reduced to the headline measures. An empty
// product stands for figures that the platform ties to no product.
type row struct {
	day, product                   string
	impressions, clicks, purchases *big.Int
	cost, sales                    *big.Rat
	further                        map[string]*big.Rat
	holder                         // empty ids where the row does not say
	campaignName, adGroupName      string
}

func (r *report) reportKey() string {
	return r.profile + "|" + r.adProduct + "|" + r.generated.Format(time.RFC3339Nano) + "|" + r.id
}

func (r *report) coversDay(day string) bool { return r.start <= day && day <= r.end }

func (r *report) sameSlice(o *report) bool {
	return r.profile == o.profile && r.adProduct == o.adProduct && r.legacy == o.legacy
}

// isNewerThan tells which of two reports speaks for a day that both cover.
func (r *report) isNewerThan(o *report) bool {
	return cmp.Or(r.generated.Compare(o.generated), cmp.Compare(r.id, o.id)) > 0
}

// isSuperseded reports whether other held reports speak for every day of r.
func (a *Account) isSuperseded(r *report) bool {
	for day := r.start; day <= r.end; day = AddDays(day, 1) {
		if w := a.currentReport(r, day); w == nil || w == r {
			return false
		}
	}
	return true
}

// currentReport is the held report that speaks for a day of r's slice, r included.
func (a *Account) currentReport(r *report, day string) *report {
	var best *report
	if r.coversDay(day) {
		best = r
	}
	for _, o := range a.reports {
		if o.sameSlice(r) && o.coversDay(day) && (best == nil || o.isNewerThan(best)) {
			best = o
		}
	}
	return best
}
