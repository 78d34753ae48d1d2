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
	ids          map[string][]string // by dimension, of those that have a filter
	dimensions   []string            // of a report
	search       string              // of a report: what one of the texts of its dimensions contains
	compare      *comparison         // nil where nothing is compared
	further      []string            // the further measures that a report asks for
	local        bool                // amounts are in the marketplaces' own currencies
	isMixed      bool                // and those are several
	currency     string              // "" where there is none of all
}

// idFilters are the dimensions that are filtered by ids, and their parameters.
var idFilters = map[string]string{"campaign": "campaign_ids", "ad_group": "ad_group_ids", "product": "product_ids"}

func (a *Account) parseRequest(q url.Values, now time.Time) (request, error) {
	oldest, _ := a.Held()
	p, err := ResolvePeriod(q, now, oldest)
	r := request{period: p, marketplaces: listParam(q, "marketplaces"), adProducts: listParam(q, "ad_products"), ids: map[string][]string{}}
	for dimension, name := range idFilters {
		if q.Has(name) {
			r.ids[dimension] = slices.Compact(slices.Sorted(strings.SplitSeq(strings.Join(q[name], ","), ",")))
		}
	}
	if err == nil {
		r.compare = a.resolveComparison(&r, q, now)
		err = a.setCurrency(&r, q)
	}
	return r, err
}

// listParam reads a list, sent once or in several parameters, as the contract says: trimmed,
// case-insensitive, canonical, without repetition, sorted.
func listParam(q url.Values, name string) []string {
	if !q.Has(name) {
		return nil
	}
	var values []string
	for _, value := range strings.Split(strings.Join(q[name], ","), ",") {
		values = append(values, canonicalCountry(value))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// selectFacts are the facts of the period, and those of the earlier one.
func (a *Account) selectFacts(r request) (now, then []*fact) {
	now = a.selectedIn(r, r.period)
	if r.compare != nil {
		then = a.selectedIn(r, r.compare.Period)
	}
	return now, then
}

func (a *Account) selectedIn(r request, p Period) []*fact {
	var chosen []*fact
	facts := a.deriveFacts()
	for i := range facts {
		f := &facts[i]
		if p.containsDay(f.day) && passesFilter(r.adProducts, f.adProduct) && f.passesIDs(r.ids) && a.passesSearch(r, f) &&
			(passesFilter(r.marketplaces, a.profiles[f.profile].country) || passesFilter(r.marketplaces, f.profile)) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// idOf is a fact's id in a dimension that has ids; empty for null.
func (f *fact) idOf(dimension string) string {
	switch dimension {
	case "campaign":
		return f.campaign
	case "ad_group":
		return f.adGroup
	case "product":
		return f.product
	}
	panic("model: no dimension of ids: " + dimension)
}

func (f *fact) passesIDs(ids map[string][]string) bool {
	for dimension, wanted := range ids {
		if !slices.Contains(wanted, f.idOf(dimension)) {
			return false
		}
	}
	return true
}

// searchedTexts are what a search looks in, of one thing of a dimension.
func (a *Account) searchedTexts(dimension, id string) []string {
	switch {
	case id == "": // what has no id has no text either
		return nil
	case dimension == "product":
		return []string{id, a.titles[id]}
	}
	return []string{a.nameOf(dimension, id)}
}

// passesSearch looks for the request's text in the texts of its dimensions, without
// regard to case. One that has it is enough.
func (a *Account) passesSearch(r request, f *fact) bool {
	if r.search == "" {
		return true
	}
	for _, dimension := range r.dimensions {
		if idFilters[dimension] == "" {
			continue
		}
		for _, text := range a.searchedTexts(dimension, f.idOf(dimension)) {
			if contains(text, r.search) {
				return true
			}
		}
	}
	return false
}

func passesFilter(values []string, value string) bool {
	return values == nil || slices.Contains(values, value)
}

// Summary is the answer of /summary.
func (a *Account) Summary(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.parseRequest(q, now)
	if err != nil {
		return nil, err
	}
	facts, then := a.selectFacts(r)
	total := a.total(r)
	answer := total.now.putFigures(r, a.baseAnswer(r))
	if r.compare != nil {
		answer["comparison"] = r.compare.putComparison(r, r.compare.comparisonHead(), &total.now, &total.then)
	}
	answer["by_marketplace"] = a.byMarketplace(r, facts, then)
	answer["by_ad_product"] = byAdProduct(r, facts, then)
	return answer, nil
}

// total is all that the request is about.
func (a *Account) total(r request) *pair {
	facts, then := a.selectFacts(r)
	for _, one := range groupBy(facts, then, func(*fact) string { return "" }) {
		return one
	}
	return &pair{}
}

// baseAnswer holds what every figure answer repeats.
func (a *Account) baseAnswer(r request) map[string]any {
	oldest, newest := a.Held()
	filters := map[string]any{"marketplaces": textsOrNull(r.marketplaces), "ad_products": textsOrNull(r.adProducts)}
	for dimension, name := range idFilters {
		if ids := r.ids[dimension]; ids != nil {
			filters[name] = textsOrNull(ids)
		}
	}
	meta := map[string]any{
		"data_last_date":  orNull(newest),
		"history_covered": oldest != "" && r.period.Start >= oldest,
		"truncated":       false,
	}
	a.setLacks(meta, r)
	return map[string]any{
		"period":   r.period.periodObject(),
		"filters":  filters,
		"currency": orNull(r.currency),
		"meta":     meta,
	}
}

func (a *Account) byMarketplace(r request, now, then []*fact) []any {
	groups := groupBy(now, then, func(f *fact) string { return f.profile })
	return rankGroups(r, groups, func(id string) string { return a.profiles[id].country + "|" + id },
		func(id string) map[string]any {
			return map[string]any{"marketplace": a.profiles[id].country, "marketplace_id": id}
		})
}

func byAdProduct(r request, now, then []*fact) []any {
	groups := groupBy(now, then, func(f *fact) string { return f.adProduct })
	return rankGroups(r, groups, func(code string) string { return code },
		func(code string) map[string]any { return map[string]any{"ad_product": code} })
}

// pair is the sums of a period, and of the earlier one.
type pair struct{ now, then figures }

func (p *pair) isZero(r request) bool { return p.now.isZero(r) && p.then.isZero(r) }

// putWithComparison writes the figures, and the comparison where one is requested.
func (p *pair) putWithComparison(r request, object map[string]any) map[string]any {
	p.now.putFigures(r, object)
	if r.compare != nil {
		object["comparison"] = r.compare.putComparison(r, map[string]any{}, &p.now, &p.then)
	}
	return object
}

func groupBy(now, then []*fact, key func(*fact) string) map[string]*pair {
	groups := map[string]*pair{}
	of := func(f *fact) *pair {
		if groups[key(f)] == nil {
			groups[key(f)] = &pair{}
		}
		return groups[key(f)]
	}
	for _, f := range now {
		of(f).now.addFigures(&f.figures)
	}
	for _, f := range then {
		of(f).then.addFigures(&f.figures)
	}
	return groups
}

// rankGroups lists groups with figures: largest shown spend first, then by tie.
func rankGroups(r request, groups map[string]*pair, tie func(string) string, head func(string) map[string]any) []any {
	keys := nonzeroKeys(r, groups)
	slices.SortFunc(keys, func(x, y string) int {
		shown := shownSpend(r, &groups[y].now).Cmp(shownSpend(r, &groups[x].now))
		return cmp.Or(shown, cmp.Compare(tie(x), tie(y)))
	})
	elements := []any{}
	for _, key := range keys {
		elements = append(elements, groups[key].putWithComparison(r, head(key)))
	}
	return elements
}

func nonzeroKeys(r request, groups map[string]*pair) []string {
	var keys []string
	for key, g := range groups {
		if !g.isZero(r) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func shownSpend(r request, f *figures) *big.Rat {
	return parseNumber(twoDecimals(f.sumsIn(r.local).spend))
}

func parseNumber(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

func textsOrNull(values []string) any {
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
