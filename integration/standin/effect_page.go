package standin

import (
	"context"
	"net/http"
)

// quirk is what a list does wrong with its pages.
type quirk struct {
	kind   quirkKind
	number int // of shownOnly and wrongTotal
}

type quirkKind int

const (
	noQuirk quirkKind = iota
	endlessToken
	sameToken
	repeatPage
	shownOnly
	wrongTotal
	noTotal
)

type quirkKey struct{}

func quirkOf(ctx context.Context) quirk {
	found, _ := ctx.Value(quirkKey{}).(quirk)
	return found
}

func quirkEffect(which quirk) Effect {
	return Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), quirkKey{}, which)))
	})
}

// shownItems are the items that the list admits to have.
func (q quirk) shownItems(items []item) []item {
	if q.kind == shownOnly {
		return items[:min(q.number, len(items))]
	}
	return items
}

// EndlessToken has every page of a list name a next one, each time another:
// past the end they are empty.
func EndlessToken() Effect { return quirkEffect(quirk{kind: endlessToken}) }

// SameToken has a page name itself as the next one.
func SameToken() Effect { return quirkEffect(quirk{kind: sameToken}) }

// RepeatPage answers with the items of the page before, and goes on behind the
// page that was requested.
func RepeatPage() Effect { return quirkEffect(quirk{kind: repeatPage}) }

// ShownOnly has a list know of its first items alone, as if the others had
// never been; its total, where it says one, agrees.
func ShownOnly(items int) Effect { return quirkEffect(quirk{shownOnly, items}) }

// WrongTotal adds to the total that a list says, so that it disagrees with its
// items. Display says none.
func WrongTotal(more int) Effect { return quirkEffect(quirk{wrongTotal, more}) }

// NoTotal leaves the total out of a list.
func NoTotal() Effect { return quirkEffect(quirk{kind: noTotal}) }
