package standin

import (
	"context"
	"net/http"
)

// quirk is what a list does wrong with its pages.
type quirk int

const (
	noQuirk quirk = iota
	endlessToken
	sameToken
	repeatPage
)

type quirkKey struct{}

func quirkOf(ctx context.Context) quirk {
	found, _ := ctx.Value(quirkKey{}).(quirk)
	return found
}

func quirky(which quirk) Effect {
	return Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), quirkKey{}, which)))
	})
}

// EndlessToken has every page of a list name a next one, each time another:
// past the end they are empty.
func EndlessToken() Effect { return quirky(endlessToken) }

// SameToken has a page name itself as the next one.
func SameToken() Effect { return quirky(sameToken) }

// RepeatPage answers with the items of the page before, and goes on behind the
// page that was asked for.
func RepeatPage() Effect { return quirky(repeatPage) }
