package query

import (
	"cmp"
	"slices"
	"strings"
)

// Products is a page of the product report.
type Products struct {
	Answer
	Rows      []Product
	TotalRows int // of all pages
}

// TotalPages is how many pages the report has.
func (p *Products) TotalPages() int {
	if p.Request.All {
		return min(p.TotalRows, 1)
	}
	return (p.TotalRows + p.Request.PageSize - 1) / p.Request.PageSize
}

// NextPage is the page after this one; ok is false on the last and past it.
func (p *Products) NextPage() (page int, ok bool) {
	return p.Request.Page + 1, p.Request.Page < p.TotalPages()
}

// Product is the figures of one advertised product.
type Product struct {
	ID           string   // "" for figures that the platform ties to no product
	Title        string   // "" where none is known
	Marketplaces []string // codes with figures of this row, sorted
	Figures      Figures
}

// newProducts lists, sorts and cuts. Rows are ordered by what they show, so
// that a reader sees why; ties by id make pages that never overlap.
func newProducts(r Request, v View, rows []ProductRow, names productNames) *Products {
	all := make([]Product, 0, len(rows))
	for i := range rows {
		if !rows[i].Sums.Empty() {
			all = append(all, Product{ID: names.ids[rows[i].Key], Figures: FiguresOf(&rows[i].Sums), Marketplaces: v.codes(rows[i].Marketplaces)})
		}
	}
	slices.SortFunc(all, comparison(r.Sort, r.Order))
	p := &Products{Answer: Answer{r, v.meta(r)}, TotalRows: len(all)}
	p.Meta.Truncated = r.All && len(all) > MaxRows
	p.Rows = page(all, r)
	for i := range p.Rows {
		p.Rows[i].Title = names.titles[p.Rows[i].ID]
	}
	return p
}

func page(all []Product, r Request) []Product {
	if r.All && r.Page > 1 {
		return nil // all rows are one page, and what the cap left out is none
	}
	from := min((r.Page-1)*r.PageSize, len(all))
	return all[from:min(from+r.PageSize, len(all))]
}

// comparison orders products by a figure or by id.
func comparison(sort, order string) func(a, b Product) int {
	sign := 1
	if order == Descending {
		sign = -1
	}
	if sort == SortProduct {
		return func(a, b Product) int {
			return cmp.Or(nullsLast(a.ID == "", b.ID == ""), sign*strings.Compare(a.ID, b.ID))
		}
	}
	i := figureIndex(sort)
	return func(a, b Product) int {
		x, y := a.Figures[i], b.Figures[i]
		by := nullsLast(x.Null(), y.Null())
		if by == 0 && !x.Null() {
			by = sign * x.Compare(y)
		}
		return cmp.Or(by, nullsLast(a.ID == "", b.ID == ""), strings.Compare(a.ID, b.ID))
	}
}

func nullsLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// codes are the countries of marketplaces, sorted, each once.
func (v View) codes(keys []uint16) []string {
	codes := make([]string, 0, len(keys))
	for _, key := range keys {
		codes = append(codes, v.byKey(key).Country)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
