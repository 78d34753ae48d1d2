package http

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"adlens/internal/query"
)

type productsAnswer struct{ *query.Products }

func (a productsAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("sort", a.Request.Sort)
	w.text("order", a.Request.Order)
	w.compared(a.Answer, nil)
	rows(w, "data", query.Product{Comparison: blankComparison(a.Request)}, a.Rows, func(p query.Product) {
		w.textOrNull("product_id", p.ID)
		w.textOrNull("title", p.Title)
		w.texts("marketplaces", p.Marketplaces)
		w.figures(p.Figures)
		w.comparison(p.Comparison)
	})
	w.pagination(a.Request.Paging, a.TotalRows)
	w.meta(a.Meta)
}

func (a productsAnswer) paged() paged { return paged{a.Request.Paging, a.TotalRows, a.Meta.Truncated} }

// paged is which page of how many rows an answer is.
type paged struct {
	query.Paging
	rows      int
	truncated bool
}

// headers say the paging again, for formats whose body has no place for it.
func (p paged) headers(h http.Header) {
	h.Set("X-Total-Rows", strconv.Itoa(p.rows))
	if p.truncated {
		h.Set("X-Truncated", "true")
	}
}

// link leads to the next page of what was asked for.
func (p paged) link(h http.Header, path, sent string) {
	if next, ok := p.NextPage(p.rows); ok {
		h.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", path, withPage(sent, next)))
	}
}

// withPage is the query string as it was sent, for another page.
func withPage(sent string, page int) string {
	var kept []string
	for _, part := range strings.Split(sent, "&") {
		if name, _, _ := strings.Cut(part, "="); part != "" && name != "page" {
			kept = append(kept, part)
		}
	}
	return strings.Join(append(kept, fmt.Sprintf("page=%d", page)), "&")
}
