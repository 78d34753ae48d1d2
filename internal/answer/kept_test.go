package answer

import (
	"context"
	"errors"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/query"
)

// undone is a database that is put back to an older state while it is read, of which the
// service hears between two statements. What is read then is gone.
type undone struct {
	reading
	query.ListStore
	putBack func()
}

func (u *undone) Ranked(context.Context, query.Statement, int, bool) ([]query.RankedRow, int, error) {
	u.putBack()
	return nil, 0, nil
}

func (u *undone) Count(context.Context, query.Statement) (int, error) {
	u.putBack()
	return 0, nil
}

// halfRead is a database that is put back while an account is read.
type halfRead struct {
	reading
	putBack func() error
}

func (h *halfRead) View(ctx context.Context, account string) (query.View, error) {
	if err := h.putBack(); err != nil {
		return query.View{}, err
	}
	return h.reading.View(ctx, account)
}

// An account of which one half was read before, and the other after, is read once more.
func TestAnAccountThatWasReadHalfIsReadAgain(t *testing.T) {
	h := &halfRead{reading: reading{version: 7}}
	s := New(Config{Figures: query.NewService(h, nil), Lists: h, Cache: 1 << 20, Memory: 1 << 20, Now: func() time.Time { return now }})
	reads := 0
	h.putBack = func() error {
		if reads++; reads == 1 {
			s.Forget("")
			return &adlens.Error{Kind: adlens.Damaged, Err: errors.New("the halves do not fit")}
		}
		return nil
	}
	m, err := s.Now(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}})
	if err != nil || m.Manifest.Version != 7 || reads != 2 {
		t.Errorf("after %d reads the version is %d: %v", reads, m.Manifest.Version, err)
	}
}

// What is read of rows that are gone is no answer, and for want of them no id is unknown.
func TestNothingIsAnsweredOfAMomentThatWasUndone(t *testing.T) {
	products := Request{Endpoint: "reports/products", Parameters: []Parameter{{"range", "this_month"}}}
	groups := Request{Endpoint: "ad-groups", Parameters: []Parameter{{"marketplace_id", "101"}, {"campaign_id", "7"}}}
	wrong := Request{Endpoint: "ad-groups", Parameters: append(groups.Parameters, Parameter{"page", "x"})}
	for _, c := range []struct {
		name    string
		request Request
		version uint32 // after it was put back
		want    adlens.Kind
	}{
		{"put back", products, 6, adlens.EngineUnavailable},
		{"restarted as it was", products, 7, ""},
		{"put back, and loaded since", products, 8, adlens.EngineUnavailable},
		{"a campaign that was undone", groups, 6, adlens.EngineUnavailable},
		{"a campaign that was undone, and a fault", wrong, 6, adlens.EngineUnavailable},
		{"a campaign that is unknown", wrong, 7, adlens.Internal}, // a *query.FaultsError
	} {
		u := &undone{reading: reading{version: 7, lists: map[uint32]time.Time{6: now, 7: now, 8: now}}}
		s := New(Config{Figures: query.NewService(u, u), Lists: u, Cache: 1 << 20, Memory: 1 << 20, Now: func() time.Time { return now }})
		u.putBack = func() {
			u.version = c.version
			s.Forget("")
		}
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, c.request)
		if err == nil {
			_, err = q.Answer(t.Context())
			q.Close()
		}
		if err == nil && c.want != "" || err != nil && adlens.KindOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
