package http

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
)

func TestReadinessNamesEveryCheckAndTheAgeOfTheData(t *testing.T) {
	w, health := newWorld(), Health{NewestLoad: now.Add(-90 * time.Second), OldestLoad: now.Add(time.Hour)}
	config := testConfig(w, keys{})
	config.Ping, config.Health = func(context.Context) error { return w.fails }, func() Health { return health }
	s := New(config)
	h := s.Handler()
	for _, c := range []struct {
		name   string
		change func()
		status int
		code   string
		checks map[string]string // what each begins with
	}{
		{"all is well", func() {}, 200, "", map[string]string{"engine": "ok", "data": "ok", "limits": "ok", "server": "ok"}},
		{"Redis is away, which does no harm", func() { health.Limits = "Redis does not" }, 200, "", map[string]string{"limits": "Redis"}},
		{"data of an account is damaged", func() { health.Data = "stored data is" }, 200, "", map[string]string{"data": "stored"}},
		{"data of all accounts is damaged", func() { health.NoData = true }, 503, "damaged", map[string]string{"data": "stored", "engine": "ok"}},
		{"the engine is away too", func() { w.fails = &adlens.Error{Kind: adlens.EngineUnavailable, Err: context.DeadlineExceeded} }, 503, "engine_unavailable",
			map[string]string{"data": "stored", "engine": "the database"}},
		{"and the server stops", s.Drain, 503, "draining", map[string]string{"server": "the server is stopping"}},
	} {
		c.change()
		got := ask(h, "/readyz")
		var said struct {
			Status, Reason, Code string
			Checks               map[string]string
			Age                  map[string]*int `json:"age_seconds"`
		}
		if err := json.Unmarshal(got.Body.Bytes(), &said); err != nil || got.Code != c.status || said.Code != c.code || (said.Reason == "") != (c.code == "") {
			t.Errorf("%s: status %d, %s, %v", c.name, got.Code, got.Body, err)
		}
		for check, begins := range c.checks {
			if !strings.HasPrefix(said.Checks[check], begins) {
				t.Errorf("%s: check %s says %q", c.name, check, said.Checks[check])
			}
		}
		if a := said.Age; len(a) != 3 || *a["newest_load"] != 90 || *a["oldest_load"] != 0 || a["oldest_refresh"] != nil {
			t.Errorf("%s: ages are %s", c.name, got.Body)
		}
	}
	if got := ask(h, "/healthz"); got.Code != http.StatusOK || got.Header().Get("Connection") != "close" {
		t.Errorf("a server that is about to stop answers %d, Connection %q", got.Code, got.Header().Get("Connection"))
	}
}

// A stranger may ask as often as connections allow: the database is asked once at a time.
func TestManyWhoAskForReadinessAskTheDatabaseOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := testConfig(newWorld(), keys{})
		var pings atomic.Int32
		release := make(chan struct{})
		config.Ping = func(context.Context) error {
			pings.Add(1)
			<-release
			return nil
		}
		h := New(config).Handler()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got := ask(h, "/readyz"); got.Code != http.StatusOK {
					t.Errorf("status %d: %s", got.Code, got.Body)
				}
			})
		}
		synctest.Wait()
		close(release)
		if all.Wait(); pings.Load() != 1 {
			t.Errorf("the database was asked %d times", pings.Load())
		}
	})
}
