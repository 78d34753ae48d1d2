package model

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

type profile struct {
	id, country, currency, timezone string
	vendor                          bool
}

// Account is what one account's loaded files amount to.
type Account struct {
	profiles map[string]profile
	rates    map[string]map[string]*big.Rat // currency, then day
	fetched  map[string]map[string]*big.Rat // likewise, of the European Central Bank
	// fetchedBy is the newest day of the file that a rate is from, by currency and day.
	fetchedBy map[string]string
	titles    map[string]string
	reports   map[string]*report // by key, so a repeated file counts once
	exports   map[string]*export // likewise
	rules     map[string]record
	runs      map[string]record
	activity  map[string]record
	learned   map[string]map[entity]knownName // the newest names that reports of a profile gave
	facts     []fact                          // derived; nil when out of date
	names     map[entity]knownName            // derived with the facts
}

// New is an account for which nothing was loaded.
func New() *Account {
	return &Account{
		profiles:  map[string]profile{},
		rates:     map[string]map[string]*big.Rat{},
		fetched:   map[string]map[string]*big.Rat{},
		fetchedBy: map[string]string{},
		titles:    map[string]string{},
		reports:   map[string]*report{},
		exports:   map[string]*export{},
		rules:     map[string]record{},
		runs:      map[string]record{},
		activity:  map[string]record{},
		learned:   map[string]map[entity]knownName{},
	}
}

// Clone is an independent copy: a state to compare later answers with.
func (a *Account) Clone() *Account {
	b := New()
	maps.Copy(b.profiles, a.profiles)
	maps.Copy(b.titles, a.titles)
	maps.Copy(b.reports, a.reports)
	maps.Copy(b.exports, a.exports)
	maps.Copy(b.rules, a.rules)
	maps.Copy(b.runs, a.runs)
	maps.Copy(b.activity, a.activity)
	for profile, names := range a.learned {
		b.learned[profile] = maps.Clone(names)
	}
	for currency, days := range a.rates {
		b.rates[currency] = maps.Clone(days)
	}
	b.fetchedBy = maps.Clone(a.fetchedBy)
	for currency, days := range a.fetched {
		b.fetched[currency] = maps.Clone(days)
	}
	return b
}

// Codes are the connected marketplaces' country codes, sorted.
func (a *Account) Codes() []string {
	seen := map[string]bool{}
	for _, p := range a.profiles {
		seen[p.country] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Places are what a filter of marketplaces may name: their codes and their ids.
func (a *Account) Places() []string { return append(a.Codes(), a.Profiles()...) }

// IDs gives what a filter of a dimension may name, sorted, and the texts that a search
// may find in it. The dimension is product, with the products that have a title
// alone too, campaign or ad_group.
func (a *Account) IDs(dimension string) (ids, texts []string) {
	known := map[string]bool{}
	facts := a.deriveFacts()
	for i := range facts {
		if facts[i].hasRow {
			known[facts[i].idOf(dimension)] = true
		}
	}
	if dimension == "product" {
		for id := range a.titles {
			known[id] = true
		}
	}
	delete(known, "")
	ids = slices.Sorted(maps.Keys(known))
	for _, id := range ids {
		for _, text := range a.searchedTexts(dimension, id) {
			if text != "" {
				texts = append(texts, text)
			}
		}
	}
	return ids, texts
}

// Held gives the oldest and the newest held day, or empty text for none.
func (a *Account) Held() (oldest, newest string) {
	for _, r := range a.reports {
		if oldest == "" || r.start < oldest {
			oldest = r.start
		}
		newest = max(newest, r.end)
	}
	return oldest, newest
}

// rateOn is the dollars for one unit of a currency on a day: that day's, else
// the nearest earlier one at most seven days back, of rates that were loaded by hand
// before those of the European Central Bank; nil with none.
func (a *Account) rateOn(currency, day string) *big.Rat {
	if currency == "USD" {
		return big.NewRat(1, 1)
	}
	for _, rates := range []map[string]map[string]*big.Rat{a.rates, a.fetched} {
		for back := range 8 {
			if r := rates[currency][AddDays(day, -back)]; r != nil {
				return r
			}
		}
	}
	return nil
}

func canonicalCountry(code string) string {
	code = strings.ToUpper(strings.TrimSpace(code))
	if code == "GB" {
		return "UK"
	}
	return code
}
