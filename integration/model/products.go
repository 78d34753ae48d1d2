package model

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Products is the answer of /reports/products.
func (a *Account) Products(q url.Values, now time.Time) (map[string]any, error) {
	r, err := a.parseRequest(q, now)
	if err != nil {
		return nil, err
	}
	sort, order := choiceParam(q, "sort", "spend"), choiceParam(q, "order", "desc")
	rows := a.productRows(r)
	slices.SortFunc(rows, func(x, y map[string]any) int {
		return cmp.Or(byValue(x[sort], y[sort], order == "desc"), byValue(x["product_id"], y["product_id"], false))
	})
	answer := a.baseAnswer(r)
	answer["sort"], answer["order"] = sort, order
	answer["totals"] = a.total(r).putWithComparison(r, map[string]any{})
	if r.compare != nil {
		answer["comparison"] = r.compare.comparisonHead()
	}
	answer["data"], answer["pagination"], err = cutPage(rows, q, 100)
	return answer, err
}

func choiceParam(q url.Values, name, otherwise string) string {
	if !q.Has(name) {
		return otherwise
	}
	return strings.ToLower(strings.TrimSpace(q.Get(name)))
}

func (a *Account) productRows(r request) []map[string]any {
	facts, then := a.selectFacts(r)
	groups := groupBy(facts, then, func(f *fact) string { return f.product })
	places := map[string][]string{}
	for _, f := range facts {
		if !f.isZero(r) {
			places[f.product] = append(places[f.product], a.profiles[f.profile].country)
		}
	}
	var rows []map[string]any
	for _, id := range nonzeroKeys(r, groups) {
		slices.Sort(places[id])
		head := map[string]any{
			"product_id":   orNull(id),
			"title":        orNull(a.titles[id]),
			"marketplaces": codesOf(places[id]),
		}
		rows = append(rows, groups[id].putWithComparison(r, head))
	}
	return rows
}

// codesOf is a list even where it is empty: a row of the earlier period alone
// has figures in no marketplace now.
func codesOf(places []string) []any {
	list := []any{}
	for _, code := range slices.Compact(places) {
		list = append(list, code)
	}
	return list
}

// byValue orders two values as shown, nulls last whichever way it runs.
func byValue(x, y any, descending bool) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	var order int
	if n, ok := x.(json.Number); ok {
		order = parseNumber(n).Cmp(parseNumber(y.(json.Number)))
	} else {
		order = cmp.Compare(x.(string), y.(string))
	}
	if descending {
		return -order
	}
	return order
}

// cutPage cuts a page out. With page_size=all the contract does not say what
// page_size shows, so the expectation leaves it out.
func cutPage(rows []map[string]any, q url.Values, usual int) (data []any, pagination map[string]any, err error) {
	page, size := 1, usual
	if q.Has("page") {
		if page, err = strconv.Atoi(q.Get("page")); err != nil {
			return nil, nil, err
		}
	}
	all := strings.EqualFold(q.Get("page_size"), "all")
	if all {
		size = max(1, len(rows))
	} else if q.Has("page_size") {
		if size, err = strconv.Atoi(q.Get("page_size")); err != nil {
			return nil, nil, err
		}
	}
	pages := (len(rows) + size - 1) / size
	from := min((page-1)*size, len(rows))
	data = []any{}
	for _, row := range rows[from:min(from+size, len(rows))] {
		data = append(data, row)
	}
	pagination = map[string]any{
		"page": jsonCount(page), "page_size": jsonCount(size), "total_rows": jsonCount(len(rows)),
		"total_pages": jsonCount(pages), "next_page": any(nil),
	}
	if page < pages {
		pagination["next_page"] = jsonCount(page + 1)
	}
	if all {
		delete(pagination, "page_size")
	}
	return data, pagination, nil
}

func jsonCount(n int) json.Number { return json.Number(strconv.Itoa(n)) }
