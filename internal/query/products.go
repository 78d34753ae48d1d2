package query

import (
	"iter"
	"slices"
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
	p := &Products{Answer: Answer{r, v.answerMeta(r)}, TotalRows: total, Rows: func(func(Product) bool) {}}
	p.Meta.Truncated = r.All && total > MaxRows
	return p
}

// rankedProducts is a page that was put in order and cut by the engine.
func rankedProducts(r Request, v View, rows []RankedRow, total int) *Products {
	p := emptyPage(r, v, total)
	p.Rows = eachProduct(rows, func(row *RankedRow) Product {
		return p.newProduct(row.ID, row.Title, v.countriesOf(row.Marketplaces), &sides{row.Sums, row.Earlier})
	})
	return p
}

func (p *Products) newProduct(id, title string, marketplaces []string, s *sides) Product {
	return Product{ID: id, Title: title, Marketplaces: marketplaces, Figures: FiguresOf(s[current]), Comparison: p.comparisonOf(s)}
}

func cutPage[T any](all []T, r Request) []T {
	if r.All && r.Page > 1 {
		return nil // all rows are one page, and what the cap left out is none
	}
	from := min((r.Page-1)*r.PageSize, len(all))
	return all[from:min(from+r.PageSize, len(all))]
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

// countriesOf are the countries of marketplaces, sorted, each once.
func (v View) countriesOf(keys []uint16) []string {
	codes := make([]string, 0, len(keys))
	for _, key := range keys {
		codes = append(codes, v.byKey(key).Country)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
