package model

import (
	"encoding/json"
	"math/big"
	"net/url"
	"time"
)

// comparison is the earlier days of a request, and whether they are covered.
type comparison struct {
	Period
	covered bool
}

// Comparable reports whether a request leaves a day to compare: the end is cut
// to the day before today.
func Comparable(q url.Values, now time.Time, oldest string) bool {
	p, err := ResolvePeriod(q, now, oldest)
	return err == nil && p.Start <= yesterdayOf(p.Zone, now)
}

func yesterdayOf(zone string, now time.Time) string {
	place, err := time.LoadLocation(zone)
	if err != nil {
		panic("model: " + err.Error())
	}
	return AddDays(dayOf(now.In(place)), -1)
}

// resolveComparison cuts the request's period and gives the earlier one; nil where
// nothing is compared.
func (a *Account) resolveComparison(r *request, q url.Values, now time.Time) *comparison {
	way := choiceParam(q, "compare", "none")
	if way == "none" {
		return nil
	}
	r.period.End = min(r.period.End, yesterdayOf(r.period.Zone, now))
	c := &comparison{Period: Period{Range: way, Zone: r.period.Zone}}
	if way == "previous_period" {
		c.Start = AddDays(r.period.Start, -DaysIn(r.period.Start, r.period.End))
		c.End = AddDays(r.period.Start, -1)
	} else {
		c.Start, c.End = yearBefore(r.period.Start), yearBefore(r.period.End)
	}
	oldest, _ := a.Held()
	c.covered = oldest != "" && oldest <= c.Start
	return c
}

// yearBefore is the same date of the year before, or its 28 February.
func yearBefore(day string) string {
	t, err := parseDay(day)
	if err != nil {
		panic("model: not a day: " + day)
	}
	if t.Month() == time.February && t.Day() == 29 {
		t = t.AddDate(0, 0, -1)
	}
	return dayOf(t.AddDate(-1, 0, 0))
}

// comparisonHead is what the whole answer says of the comparison.
func (c *comparison) comparisonHead() map[string]any {
	return map[string]any{"period": c.periodObject(), "history_covered": c.covered}
}

// putComparison writes the earlier figures and the change since.
func (c *comparison) putComparison(r request, object map[string]any, now, then *figures) map[string]any {
	then.putFigures(r, object)
	change := map[string]any{}
	before := then.exactFigures(r)
	for i, one := range now.exactFigures(r) {
		change[one.name] = nil
		if c.covered {
			change[one.name] = changeOf(one.kind, one.exact, before[i].exact)
		}
	}
	object["change"] = change
	return object
}

// changeOf follows the words of the contract: percent of the earlier value for
// the sums, and the difference of the exact values for all ratios.
func changeOf(k kind, now, then *big.Rat) any {
	if now == nil || then == nil {
		return nil
	}
	difference := new(big.Rat).Sub(now, then)
	if k != quotient {
		if then.Sign() == 0 {
			return nil
		}
		difference.Quo(difference, then)
		difference.Mul(difference, big.NewRat(100, 1))
	}
	return roundHundredths(difference)
}

// roundHundredths rounds half away from zero; there is no zero below zero.
func roundHundredths(r *big.Rat) json.Number {
	n := twoDecimals(r)
	if n == "-0.00" {
		return "0.00"
	}
	return n
}
