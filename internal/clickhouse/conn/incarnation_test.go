package conn

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// startedServer speaks HTTP as a server that tells when it was started, and has one number.
type startedServer struct {
	*httptest.Server
	start, number atomic.Int64
	ends          atomic.Bool  // whether it ends each connection after an answer
	asked         atomic.Int64 // how often it was asked for its start
}

func newStarted(t *testing.T) *startedServer {
	s := &startedServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if s.ends.Load() {
			w.Header().Set("Connection", "close")
		}
		switch {
		case strings.HasPrefix(string(text), "SELECT displayName()"):
			w.Write(greeting("UTC"))
		case strings.Contains(string(text), "serverUUID()"):
			s.asked.Add(1)
			w.Write(blockOf("server", "one", "start", s.start.Load()))
		default:
			w.Write(blockOf("number", s.number.Load()))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// watcher counts what a guard hears.
type watcher struct{ inspected, renewed int }

func (w *watcher) Admit(string) error                      { return nil }
func (w *watcher) Alarm(error)                             {}
func (w *watcher) Inspect(context.Context, *Session) error { w.inspected++; return nil }
func (w *watcher) Renew()                                  { w.renewed++ }

// A server that is restarted while no statement runs breaks connections that are idle, which
// the driver replaces without a word. Its disk may have lost rows, or be another one.
func TestAServerThatWasRestartedBetweenStatementsIsInspected(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	source, err := NewRemote(RemoteConfig{Address: "http://reader:secret@" + started.Listener.Addr().String() + "/adlens"})
	if err != nil {
		t.Fatal(err)
	}
	heard := &watcher{}
	server := NewServer(source, Checks{Guard: heard})
	defer server.Close()
	now := time.Now().Unix()
	for _, step := range []struct {
		name                       string
		start                      int64 // seconds since the first one
		ends                       bool  // connections, before the next step
		wantInspected, wantRenewed int
		wantAsked                  bool
	}{
		{"first", 0, false, 1, 1, true},
		{"the same connection", 0, true, 1, 1, false},
		{"other connections to the same start, which is told a second more", 1, true, 1, 1, true},
		{"restarted", 60, false, 2, 2, true},
		{"its connection", 60, true, 2, 2, false},
	} {
		started.start.Store(now + step.start)
		started.number.Store(step.start)
		started.ends.Store(step.ends)
		before := started.asked.Load()
		var got int64
		if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(&got)); err != nil || got != step.start {
			t.Errorf("%s: it reads %d: %v", step.name, got, err)
		}
		if heard.inspected != step.wantInspected || heard.renewed != step.wantRenewed {
			t.Errorf("%s: inspected %d times, want %d; renewed %d times, want %d", step.name, heard.inspected, step.wantInspected, heard.renewed, step.wantRenewed)
		}
		if asked := started.asked.Load() > before; asked != step.wantAsked {
			t.Errorf("%s: the server was asked for its start: %t, want %t", step.name, asked, step.wantAsked)
		}
	}
}
