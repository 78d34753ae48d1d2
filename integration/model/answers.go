package model

import (
	"cmp"
	"encoding/json"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"time"
)

// request is one figure request, resolved.
type request struct {
	period       Period
	marketplaces []string // nil where not sent
	adProducts   []string
}

func (a *Account) request(q url.Values, now time.Time) (request, error) {
	oldest, _ := a.Held()
	p, err := ResolvePeriod(q, now, oldest)
	return request{p, list(q, "marketplaces"), list(q, "ad_products")}, err
}

// list reads a comma-separated parameter as the contract says: trimmed,
// case-insensitive, canonical, without repetition, sorted.
func list(q url.Values, name string) []string {
	if !q.Has(name) {
		return nil
	}
	var values []string
	for _, value := range strings.Split(q.Get(name), ",") {
		values = append(values, canonicalCountry(value))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func (a *Account) selected(r request) []*fact {
	var chosen []*fact
	facts := a.derive()
	for i := range facts {
		f := &facts[i]
		if r.period.holds(f.day) && admits(r.adProducts, f.adProduct) &&
			admits(r.marketplaces, a.profiles[f.profile].country) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

func admits(values []string, value string) bool {
	return values == nil || slices.Contains(values, value)
}

// Summary is the answer of /summary.
func (a *Account) Summary(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.request(q, now)
	if err != nil {
		return nil, err
	}
	facts := a.selected(r)
	var total figures
	for _, f := range facts {
		total.add(&f.figures)
	}
	answer := total.put(a.frame(r))
	answer["by_marketplace"] = a.byMarketplace(facts)
	answer["by_ad_product"] = byAdProduct(facts)
	return answer, nil
}

// frame holds what every figure answer repeats.
func (a *Account) frame(r request) map[string]any {
	oldest, newest := a.Held()
	return map[string]any{
		"period":   r.period.object(),
		"filters":  map[string]any{"marketplaces": texts(r.marketplaces), "ad_products": texts(r.adProducts)},
		"currency": "USD",
		"meta": map[string]any{
			"data_last_date":  orNull(newest),
			"history_covered": oldest != "" && r.period.Start >= oldest,
			"truncated":       false,
		},
	}
}

func (a *Account) byMarketplace(facts []*fact) []any {
	groups := groupBy(facts, func(f *fact) string { return f.profile })
	return ranked(groups, func(id string) string { return a.profiles[id].country + "|" + id },
		func(id string) map[string]any {
			return map[string]any{"marketplace": a.profiles[id].country, "marketplace_id": id}
		})
}

func byAdProduct(facts []*fact) []any {
	groups := groupBy(facts, func(f *fact) string { return f.adProduct })
	return ranked(groups, func(code string) string { return code },
		func(code string) map[string]any { return map[string]any{"ad_product": code} })
}

func groupBy(facts []*fact, key func(*fact) string) map[string]*figures {
	groups := map[string]*figures{}
	for _, f := range facts {
		g := groups[key(f)]
		if g == nil {
			g = &figures{}
			groups[key(f)] = g
		}
		g.add(&f.figures)
	}
	return groups
}

// ranked lists groups with figures: largest shown spend first, then by tie.
func ranked(groups map[string]*figures, tie func(string) string, head func(string) map[string]any) []any {
	keys := listed(groups)
	slices.SortFunc(keys, func(x, y string) int {
		shown := shownAmount(groups[y]).Cmp(shownAmount(groups[x]))
		return cmp.Or(shown, cmp.Compare(tie(x), tie(y)))
	})
	elements := []any{}
	for _, key := range keys {
		elements = append(elements, groups[key].put(head(key)))
	}
	return elements
}

func listed(groups map[string]*figures) []string {
	var keys []string
	for key, g := range groups {
		if !g.none() {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func shownAmount(f *figures) *big.Rat { return number(amount(&f.spend)) }

func number(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// Timeline is the answer of /timeline.
func (a *Account) Timeline(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.request(q, now)
	if err != nil {
		return nil, err
	}
	grain := strings.ToLower(strings.TrimSpace(q.Get("granularity")))
	if grain == "" || grain == "auto" {
		grain = "day"
		if DaysIn(r.period.Start, r.period.End) > 92 {
			grain = "month"
		}
	}
	points := groupBy(a.selected(r), func(f *fact) string {
		if grain == "month" {
			return monthOf(f.day)
		}
		return f.day
	})
	data := []any{}
	for _, date := range listed(points) {
		data = append(data, points[date].put(map[string]any{"date": date}))
	}
	answer := a.frame(r)
	answer["granularity"] = grain
	answer["data"] = data
	return answer, nil
}

func texts(values []string) any {
	if values == nil {
		return nil
	}
	list := []any{}
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
