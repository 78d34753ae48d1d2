package engine

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// An engine that is told to stop waits five seconds for connections that stay open.
func TestTheConnectionOfARefusedRequestIsClosed(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, "text")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	closing, err := CloseRefused(&http.Transport{})
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: closing}
	for _, c := range []struct {
		path        string
		connections int32 // so far
	}{{"/", 1}, {"/", 1}, {"/refused", 1}, {"/", 2}, {"/", 2}} {
		res, err := client.Get(server.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil || opened.Load() != c.connections {
			t.Errorf("after %s there were %d connections, expected %d: %v", c.path, opened.Load(), c.connections, err)
		}
	}
}
