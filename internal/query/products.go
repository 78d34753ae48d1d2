package query

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Products is a page of the product report.
type Products struct {
	Answer
	// Rows makes the rows of the page one by one, in their order: with their
	// figures, a hundred thousand at once would take as much memory as all else
	// of an answer.
	Rows      iter.Seq[Product]
	TotalRows int // of all pages
}

// Product is the figures of one advertised product.
type Product struct {
	ID           string   // "" for figures that the platform ties to no product
	Title        string   // "" where none is known
	Marketplaces []string // codes with figures of this row in the period, sorted
	Figures      Figures
	Comparison   *Comparison // nil where nothing is compared
}

// ranked is a row of the report with what it is sorted by. Its other figures
// are computed for the rows of one page alone.
type ranked struct {
	row *ProductRow
	id  string
	by  Value // the figure that is sorted by
}

// newProducts lists, sorts and cuts. Rows are ordered by what they show, so
// that a reader sees why; ties by id make pages that never overlap.
func newProducts(r Request, v View, rows []ProductRow, names productNames) *Products {
	all := rank(r, rows, names)
	p := emptyPage(r, v, len(all))
	p.Rows = eachProduct(page(all, r), func(one *ranked) Product {
		return p.product(one.id, names.titles[one.id], v.codes(one.row.Marketplaces), &sides{one.row.Sums, one.row.Earlier})
	})
	return p
}

// eachProduct makes products of what is known of them, whenever they are
// ranged over.
func eachProduct[T any](all []T, make func(*T) Product) iter.Seq[Product] {
	return func(yield func(Product) bool) {
		for i := range all {
			if !yield(make(&all[i])) {
				return
			}
		}
	}
}

// emptyPage is a page that has no rows yet.
func emptyPage(r Request, v View, total int) *Products {
	p := &Products{Answer: Answer{r, v.meta(r)}, TotalRows: total, Rows: func(func(Product) bool) {}}
	p.Meta.Truncated = r.All && total > MaxRows
	return p
}

// rankedProducts is a page that was put in order and cut by the engine.
func rankedProducts(r Request, v View, rows []RankedRow, total int) *Products {
	p := emptyPage(r, v, total)
	p.Rows = eachProduct(rows, func(row *RankedRow) Product {
		return p.product(row.ID, row.Title, v.codes(row.Marketplaces), &sides{row.Sums, row.Earlier})
	})
	return p
}

func (p *Products) product(id, title string, marketplaces []string, s *sides) Product {
	return Product{ID: id, Title: title, Marketplaces: marketplaces, Figures: FiguresOf(s[current]), Comparison: p.comparison(s)}
}

func rank(r Request, rows []ProductRow, names productNames) []ranked {
	all := make([]ranked, 0, len(rows))
	sorted := figureIndex(r.Sort)
	for i := range rows {
		row := &rows[i]
		if row.Sums.IsZero() && row.Earlier.IsZero() {
			continue
		}
		one := ranked{row: row, id: names.ids[row.Key]}
		if r.Sort != SortProduct {
			one.by = Catalogue[sorted].value(row.Sums)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, comparison(r.Sort, r.Order))
	return all
}

func page[T any](all []T, r Request) []T {
	if r.All && r.Page > 1 {
		return nil // all rows are one page, and what the cap left out is none
	}
	from := min((r.Page-1)*r.PageSize, len(all))
	return all[from:min(from+r.PageSize, len(all))]
}

// comparison orders products by a figure or by id.
func comparison(sort, order string) func(a, b ranked) int {
	sign := 1
	if order == Descending {
		sign = -1
	}
	if sort == SortProduct {
		return func(a, b ranked) int {
			return cmp.Or(nullsLast(a.id == "", b.id == ""), sign*strings.Compare(a.id, b.id))
		}
	}
	return func(a, b ranked) int {
		by := nullsLast(a.by.Null(), b.by.Null())
		if by == 0 && !a.by.Null() {
			by = sign * a.by.Compare(b.by)
		}
		return cmp.Or(by, nullsLast(a.id == "", b.id == ""), strings.Compare(a.id, b.id))
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
