package model

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// grains are the dimensions of time, and what they cut days to.
var grains = map[string]string{"date": "day", "week": "week", "month": "month"}

// breakdownRow is a row with what orders it; the place of a date is where it lies
// in its period.
type breakdownRow struct {
	object  map[string]any
	shown   map[string]any    // what orders it: the figures, amounts of several currencies in US dollars
	keys    map[string]string // by dimension; "" for null, which is last
	place   int
	profile string
}

// Report is the answer of /report.
func (a *Account) Report(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.parseRequest(q, now)
	if err != nil {
		return nil, err
	}
	dimensions, figures := wordsParam(q, "dimensions"), wordsParam(q, "figures")
	r.dimensions, r.search = dimensions, q.Get("search")
	if r.search != "" && !slices.ContainsFunc(dimensions, func(dimension string) bool { return idFilters[dimension] != "" }) {
		return nil, fmt.Errorf("model: search %q has no column to look in", r.search)
	}
	if figures == nil {
		figures = FigureNames
	}
	for _, name := range figures {
		if !slices.Contains(FigureNames, name) {
			r.further = append(r.further, name)
		}
	}
	answer := a.baseAnswer(r)
	answer["dimensions"] = textsOrEmpty(dimensions)
	answer["figures"] = textsOrEmpty(figures)
	answer["totals"] = keepFigures(r.withoutMixed(a.total(r).putWithComparison(r, map[string]any{})), figures)
	if r.compare != nil {
		answer["comparison"] = r.compare.comparisonHead()
	}
	sort, order := breakdownOrder(q, dimensions, figures, r.isMixed)
	answer["sort"], answer["order"] = sort, order
	rows := a.breakdownRows(r, dimensions)
	slices.SortFunc(rows, func(x, y breakdownRow) int {
		first := 0
		switch {
		case grains[sort] != "" && x.keys[sort] == "" && y.keys[sort] == "": // both are null
		case slices.Contains(dimensions, sort):
			first = x.compareBy(y, sort, order == "desc")
		default:
			first = byValue(x.shown[sort], y.shown[sort], order == "desc")
		}
		for _, dimension := range dimensions {
			first = cmp.Or(first, x.compareBy(y, dimension, false))
		}
		return first
	})
	objects := make([]map[string]any, len(rows))
	for i, row := range rows {
		objects[i] = keepFigures(row.object, figures)
	}
	answer["data"], answer["pagination"], err = cutPage(objects, q, 100)
	return answer, err
}

// wordsParam reads a list of words of a closed set, each once, in the order sent.
func wordsParam(q url.Values, name string) (words []string) {
	if !q.Has(name) {
		return nil
	}
	for _, word := range strings.Split(q.Get(name), ",") {
		if word = strings.ToLower(strings.TrimSpace(word)); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

func textsOrEmpty(values []string) []any {
	list := []any{}
	for _, value := range values {
		list = append(list, value)
	}
	return list
}

// keepFigures leaves out the figures that were not requested, also of comparisons.
func keepFigures(object map[string]any, wanted []string) map[string]any {
	for _, name := range FigureNames {
		if !slices.Contains(wanted, name) {
			delete(object, name)
		}
	}
	for _, part := range []string{"comparison", "change"} {
		if inner, ok := object[part].(map[string]any); ok {
			keepFigures(inner, wanted)
		}
	}
	return object
}

// withoutMixed leaves nothing of amounts of several currencies.
func (r request) withoutMixed(object map[string]any) map[string]any {
	if !r.isMixed {
		return object
	}
	names := slices.Clone(ofMoney)
	for _, name := range r.further {
		if FurtherMeasures[name].IsMoney() {
			names = append(names, name)
		}
	}
	for _, name := range names {
		object[name] = nil
	}
	for _, part := range []string{"comparison", "change"} {
		if inner, ok := object[part].(map[string]any); ok {
			r.withoutMixed(inner)
		}
	}
	return object
}

// breakdownOrder is what rows are sorted by where the request does not say.
func breakdownOrder(q url.Values, dimensions, figures []string, isMixed bool) (sort, order string) {
	sort = "marketplace" // of amounts in several currencies alone
	for _, name := range slices.Backward(figures) {
		if !isMixed || !FurtherMeasures[name].IsMoney() {
			sort = name
		}
	}
	if slices.Contains(figures, "spend") {
		sort = "spend"
	}
	for _, dimension := range dimensions {
		if grains[dimension] != "" {
			sort = dimension
		}
	}
	sort, order = choiceParam(q, "sort", sort), "desc"
	if slices.Contains(dimensions, sort) {
		order = "asc"
	}
	return sort, choiceParam(q, "order", order)
}

// compareBy orders rows by a dimension, null last whichever way it runs.
func (x breakdownRow) compareBy(y breakdownRow, dimension string, descending bool) int {
	if grains[dimension] != "" {
		first := cmp.Compare(x.place, y.place)
		if x.keys[dimension] == "" || y.keys[dimension] == "" {
			return first // the dates that the earlier period alone has are behind all others
		}
		if descending {
			return -first
		}
		return first
	}
	return byValue(orNull(x.keys[dimension]), orNull(y.keys[dimension]), descending)
}

func (a *Account) breakdownRows(r request, dimensions []string) (rows []breakdownRow) {
	groups := map[string]*pair{}
	samples := map[string]breakdownRow{}
	now, then := a.selectFacts(r)
	dates := r.rowDates(dimensions)
	for side, facts := range [2][]*fact{now, then} {
		for _, f := range facts {
			row := a.breakdownRow(dimensions, f, dates, side)
			key := strconv.Itoa(row.place)
			for _, dimension := range dimensions {
				if grains[dimension] == "" {
					key += "\x00" + row.keys[dimension]
				}
			}
			if groups[key] == nil {
				groups[key], samples[key] = &pair{}, row
			}
			if side == 0 {
				groups[key].now.addFigures(&f.figures)
			} else {
				groups[key].then.addFigures(&f.figures)
			}
		}
	}
	for _, key := range nonzeroKeys(r, groups) {
		row := samples[key]
		inDollars := r
		inDollars.local = false
		row.shown = groups[key].now.putFigures(r, map[string]any{})
		if r.isMixed {
			dollars := groups[key].now.putFigures(inDollars, map[string]any{})
			for _, name := range []string{"spend", "sales", "average_cpc"} {
				row.shown[name] = dollars[name]
			}
			row.object["currency"] = a.profiles[row.profile].currency
		}
		dates, _ := row.object["\x00then"].(map[string]any)
		delete(row.object, "\x00then")
		groups[key].putWithComparison(r, row.object)
		if c, ok := row.object["comparison"].(map[string]any); ok {
			for name, date := range dates {
				c[name] = date
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// rowDates are the dates of the dimension of time, where there is one, of the period
// and of the earlier one.
func (r request) rowDates(dimensions []string) (dates [2][]string) {
	for _, dimension := range dimensions {
		grain := grains[dimension]
		if grain == "" {
			continue
		}
		dates[0] = r.period.bucketDates(grain)
		if r.compare != nil {
			dates[1] = r.compare.bucketDates(grain)
		}
	}
	return dates
}

// breakdownRow is the row that a fact of one side belongs to, without figures.
func (a *Account) breakdownRow(dimensions []string, f *fact, dates [2][]string, side int) breakdownRow {
	row := breakdownRow{object: map[string]any{}, keys: map[string]string{}}
	for _, dimension := range dimensions {
		switch dimension {
		case "marketplace":
			country := a.profiles[f.profile].country
			row.keys[dimension] = country + "|" + f.profile
			row.profile = f.profile
			row.object["marketplace"], row.object["marketplace_id"] = country, f.profile
		case "ad_product":
			row.keys[dimension], row.object[dimension] = f.adProduct, f.adProduct
		case "product":
			row.keys[dimension] = f.product
			row.object["product_id"], row.object["title"] = orNull(f.product), orNull(a.titles[f.product])
		case "campaign", "ad_group":
			id := f.idOf(dimension)
			row.keys[dimension] = id
			row.object[dimension+"_id"], row.object[dimension+"_name"] = orNull(id), orNull(a.nameOf(dimension, id))
		default:
			row.place = slices.Index(dates[side], bucketStart(f.day, grains[dimension]))
			row.keys[dimension] = dateAt(dates[0], row.place)
			row.object[dimension] = orNull(row.keys[dimension])
			row.object["\x00then"] = map[string]any{dimension: orNull(dateAt(dates[1], row.place))}
		}
	}
	return row
}
