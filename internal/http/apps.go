package http

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"
)

// appsPath is where the page reads the connections of assistants, and ends them.
// It is no part of the API, which only reads.
const appsPath = "/apps"

// AppStore keeps the connections of assistants.
type AppStore interface {
	Apps(ctx context.Context, account string) ([]auth.App, error)
	AppByID(ctx context.Context, id string) (app auth.App, found bool, err error)
	PutApp(ctx context.Context, app auth.App) error
}

// addApps adds what the page needs to show and end connections.
func (s *Server) addApps(engine *gin.Engine) {
	if s.Apps == nil {
		return
	}
	s.addGet(engine, appsPath, s.wrapHandler(s.listApps))
	engine.POST(appsPath+"/:app_id/revoke", s.wrapHandler(s.revokeApp))
}

type appBody struct {
	ID          string  `json:"app_id"`
	Name        string  `json:"name"`
	RedirectURI string  `json:"redirect_uri"`
	ConnectedAt *string `json:"connected_at"`
	LastUsedAt  *string `json:"last_used_at"`
	ExpiresAt   *string `json:"expires_at"`
	RevokedAt   *string `json:"revoked_at"`
}

func appBodyOf(a auth.App) appBody {
	return appBody{a.ID, a.Name, a.RedirectURI, adlens.FormatOptionalTime(a.ConnectedAt), adlens.FormatOptionalTime(a.LastUsedAt), adlens.FormatOptionalTime(&a.Refresh.ExpiresAt), adlens.FormatOptionalTime(a.RevokedAt)}
}

// listApps answers the live connections of the account of a key, oldest first. An
// assistant reads all of the account: a key for some marketplaces knows none.
func (s *Server) listApps(c *gin.Context) error {
	caller, err := s.admitForApps(c)
	if err != nil {
		return err
	}
	all, err := s.Apps.Apps(c.Request.Context(), caller.Account.ID)
	if err != nil {
		return err
	}
	bodies := []appBody{}
	for _, app := range all {
		if knowsApps(caller) && app.Connected(s.Now()) {
			bodies = append(bodies, appBodyOf(app))
		}
	}
	return writeJSON(c, map[string][]appBody{"data": bodies})
}

// revokeApp ends a connection of the account of a key for good. One that is revoked
// stays as it is; one that the key does not know is unknown.
func (s *Server) revokeApp(c *gin.Context) error {
	caller, err := s.admitForApps(c)
	if err != nil {
		return err
	}
	app, found, err := s.Apps.AppByID(c.Request.Context(), c.Param("app_id"))
	if err != nil {
		return err
	}
	if !found || app.AccountID != caller.Account.ID || !knowsApps(caller) {
		return &answer.NotFoundError{Detail: fmt.Sprintf("there is no connection %q", answer.Printable(c.Param("app_id")))}
	}
	ends := app.RevokedAt == nil
	if ends {
		app.RevokedAt = new(s.Now().UTC().Truncate(time.Millisecond))
	}
	if err := s.Apps.PutApp(c.Request.Context(), app); err != nil { // again, too: a request before may have failed before its seal
		return err
	}
	if ends {
		s.Log.Info("a connection of an assistant was ended", zap.String("request_id", requestID(c)), zap.String("account", app.AccountID), zap.String("app_id", app.ID), zap.String("key_id", caller.Key.ID))
	}
	return writeJSON(c, appBodyOf(app))
}

// knowsApps reports whether the assistants of the account are known to a caller.
func knowsApps(caller auth.Caller) bool { return caller.Marketplaces == nil }

// admitForApps lets a request of the page in. Connections can be ended whatever the
// state of the subscription.
func (s *Server) admitForApps(c *gin.Context) (auth.Caller, error) {
	caller, err := s.admitCaller(c, auth.Credentials{Authorization: c.Request.Header.Values("Authorization"), Canceled: true})
	if err != nil {
		return caller, err
	}
	return caller, answer.RefuseParameters(answer.ReadQuery(c.Request.URL.RawQuery))
}

// writeJSON answers with a value that no cache may keep.
func writeJSON(c *gin.Context, value any) error {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	writeBody(c, http.StatusOK, "application/json", text)
	return nil
}
