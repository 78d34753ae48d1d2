package http

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/table"

	"github.com/gin-gonic/gin"
)

// ConnectionStore finds the connections of accounts to the platform.
type ConnectionStore interface {
	Connection(ctx context.Context, account string) (c adlens.Connection, found bool, err error)
}

type accountAnswer struct {
	account  adlens.Account
	key      auth.Record
	lastUse  *time.Time // before this call
	lastDate *adlens.Day

	connected   bool       // credentials are stored and were last accepted
	connectedAt *time.Time // nil where none are stored
}

func (s *Server) account(c *gin.Context, caller auth.Caller) (answer, error) {
	var none struct{}
	if faults := decode(c.Request.URL.RawQuery, &none); len(faults) > 0 {
		return nil, &query.FaultsError{Faults: faults}
	}
	view, err := s.figures.View(c.Request.Context(), caller.Account.ID)
	if err != nil {
		return nil, err
	}
	connection, connected, err := s.connections.Connection(c.Request.Context(), caller.Account.ID)
	if err != nil {
		return nil, err
	}
	a := accountAnswer{account: caller.Account, key: caller.Key, lastUse: caller.LastUse, connected: connected && connection.Accepted}
	if connected {
		a.connectedAt = &connection.ConnectedAt
	}
	if _, newest, held := view.Manifest.HeldDays(manifest.Any); held {
		a.lastDate = &newest
	}
	return a, nil
}

func (accountAnswer) noStore() {}

func (a accountAnswer) fields(w *writer) {
	w.text("account_id", a.account.ID)
	w.text("name", a.account.Name)
	w.bool("is_demo", a.account.IsDemo)
	w.object("subscription", func() { w.text("status", a.account.Subscription) })
	w.object("platform", func() {
		w.bool("connected", a.connected)
		w.timestamp("connected_at", a.connectedAt)
	})
	w.object("api_key", func() {
		w.text("name", a.key.Name)
		w.text("start", a.key.Start)
		w.texts("scopes", a.key.Scopes)
		w.timestamp("created_at", &a.key.CreatedAt)
		w.timestamp("last_used_at", a.lastUse)
	})
	w.null("connected_app", table.JSON)
	w.object("meta", func() { w.day("data_last_date", a.lastDate) })
}
