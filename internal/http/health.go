package http

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"adlens"

	"github.com/gin-gonic/gin"
)

// pingTimeout is how long readiness waits for the engine.
const pingTimeout = 2 * time.Second

// Health is what a server knows about itself beside whether its engine answers.
// It is shown to everybody, so it names nothing of an account.
type Health struct {
	Data   string // what is wrong with the stored data, and what helps; "" for nothing
	NoData bool   // and no account can be answered for it
	Limits string // what is wrong with limits that are shared; "" for nothing

	// How old what is stored is, over all accounts; zero where there is nothing.
	NewestLoad, OldestLoad, OldestRefresh time.Time

	// Connections counts those to the platform, of all accounts, by region and state.
	Connections map[string]ConnectionStates
}

// ConnectionStates counts connections to the platform by whether it took their
// credentials the last time.
type ConnectionStates struct {
	Accepted int `json:"accepted"`
	Refused  int `json:"refused"`
}

// isProbe reports whether a route is one that balancers ask every few seconds.
func isProbe(route string) bool { return route == "/healthz" || route == "/readyz" }

// serveHealthz tells that the process lives. It never depends on the engine: a
// restart of this process would not mend that one.
func (s *Server) serveHealthz(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}

type readiness struct {
	Status string            `json:"status"` // ready, not ready
	Reason string            `json:"reason,omitempty"`
	Code   adlens.Kind       `json:"code,omitempty"`
	Checks map[string]string `json:"checks"` // by what was looked at: ok, or what is wrong
	Ages   ages              `json:"age_seconds"`

	Connections map[string]ConnectionStates `json:"connections"` // by region
}

type ages struct {
	NewestLoad    *int `json:"newest_load"`
	OldestLoad    *int `json:"oldest_load"`
	OldestRefresh *int `json:"oldest_refresh"`
}

// draining is the code of a server that is about to stop.
const draining adlens.Kind = "draining"

// serveReadyz reports whether requests should be sent here, and why not.
func (s *Server) serveReadyz(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	r := s.checkReadiness(c.Request.Context())
	status := http.StatusOK
	if r.Code != "" {
		status = http.StatusServiceUnavailable
	}
	c.JSON(status, r)
}

// IsReady reports what /readyz answers. It takes two seconds at most.
func (s *Server) IsReady() bool { return s.checkReadiness(context.Background()).Code == "" }

// checkReadiness looks at everything. Limits that are not shared now, refused
// connections and damage to some accounts are reported; readiness stays 200. Each server
// goes on holding limits by itself, and damage must not take a server, or all that read
// the same data, from the other accounts.
func (s *Server) checkReadiness(ctx context.Context) readiness {
	h, now := s.Health(), s.Now()
	r := readiness{Status: "ready", Checks: map[string]string{},
		Ages: ages{ageSeconds(h.NewestLoad, now), ageSeconds(h.OldestLoad, now), ageSeconds(h.OldestRefresh, now)}}
	r.noteCheck("limits", h.Limits, "")
	r.noteConnections(h.Connections)
	var withheld adlens.Kind
	if h.NoData {
		withheld = adlens.Damaged
	}
	r.noteCheck("data", h.Data, withheld)
	if err := s.pingOnce(ctx); err != nil {
		r.noteCheck("engine", "the database does not answer, or shows no accounts", adlens.KindOf(err))
	} else {
		r.noteCheck("engine", "", "")
	}
	stopping := ""
	if s.draining.Load() {
		stopping = "the server is stopping"
	}
	r.noteCheck("server", stopping, draining)
	return r
}

// pingOnce asks the database whether it answers, once at a time: a stranger may ask too, and more of it would take the turns of those who have a key.
func (s *Server) pingOnce(ctx context.Context) error {
	_, err := s.pings.Do(ctx, struct{}{}, func(ctx context.Context) (none struct{}, err error) {
		ctx, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		return none, s.Ping(ctx)
	})
	return err
}

// noteConnections notes how many connections to the platform are in which state.
func (r *readiness) noteConnections(byRegion map[string]ConnectionStates) {
	r.Connections = map[string]ConnectionStates{}
	refused, all := 0, 0
	for region, states := range byRegion {
		r.Connections[region] = states
		refused, all = refused+states.Refused, all+states.Refused+states.Accepted
	}
	wrong := ""
	if refused > 0 {
		wrong = fmt.Sprintf("the platform refused the credentials of %d of %d connections the last time: adlens doctor names them", refused, all)
	}
	r.noteCheck("connections", wrong, "")
}

// noteCheck notes what was found. What is wrong with a code makes the server not
// ready, for the reason that was noted last.
func (r *readiness) noteCheck(name, wrong string, code adlens.Kind) {
	if wrong == "" {
		r.Checks[name] = "ok"
		return
	}
	r.Checks[name] = wrong
	if code != "" {
		r.Status, r.Reason, r.Code = "not ready", wrong, code
	}
}

// ageSeconds is in whole seconds; a time of the future, after the clock was set back,
// is now.
func ageSeconds(t, now time.Time) *int {
	if t.IsZero() {
		return nil
	}
	return new(max(0, int(now.Sub(t).Seconds())))
}
