package http

import (
	"fmt"
	"net/http"
	"strings"

	"adlens/internal/query"
)

type productsAnswer struct{ *query.Products }

func (a productsAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("sort", a.Request.Sort)
	w.text("order", a.Request.Order)
	w.list("data", func() {
		for _, p := range a.Rows {
			w.object("", func() {
				w.textOrNull("product_id", p.ID)
				w.textOrNull("title", p.Title)
				w.texts("marketplaces", p.Marketplaces)
				w.figures(p.Figures)
			})
		}
	})
	w.object("pagination", func() {
		w.number("page", a.Request.Page)
		w.number("page_size", a.Request.PageSize)
		w.number("total_rows", a.TotalRows)
		w.number("total_pages", a.TotalPages())
		if next, ok := a.NextPage(); ok {
			w.number("next_page", next)
		} else {
			w.null("next_page")
		}
	})
	w.meta(a.Meta)
}

// headers say the paging again, for formats whose body has no place for it.
func (a productsAnswer) headers(h http.Header, path, sent string) {
	h.Set("X-Total-Rows", fmt.Sprint(a.TotalRows))
	if a.Meta.Truncated {
		h.Set("X-Truncated", "true")
	}
	if next, ok := a.NextPage(); ok {
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
