package house

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// runningEngine is what the engine of a data directory tells those who may ask
// it.
type runningEngine struct {
	Address, Gate  string
	LoaderPassword string `json:"loader_password"`
}

func engineOf(t *testing.T, p *harness.Program) runningEngine {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.DataDir, "engine", "engine.json"))
	Need(t, err)
	var e runningEngine
	Need(t, json.Unmarshal(content, &e))
	return e
}

// ForeignServer is an engine that looks like a user's ClickHouse server that
// speaks HTTP. Its loader may do all that is needed.
type ForeignServer struct {
	*httptest.Server
	Password string
}

// AsServer puts a proxy that has the gate before the engine of a data directory.
// The engine has to run.
func AsServer(t *testing.T, p *harness.Program) *ForeignServer {
	t.Helper()
	e := engineOf(t, p)
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: e.Address})
		r.Out.Header.Set("X-Adlens-Gate", e.Gate)
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it the answer's first byte closes the request's body, and where
		// the proxy has not seen the end of that by then, it cuts the answer: Go's
		// issue 40747, met on a busy machine.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &ForeignServer{server, e.LoaderPassword}
}

// Loader is the server's address for its loader, who has this password.
func (s *ForeignServer) Loader(password string) string {
	return "http://loader:" + password + "@" + s.Listener.Addr().String() + "/adlens"
}

// Finding is one of checks[].
type Finding struct {
	Check, Status, Detail string
	Advice, Account       *string
}

// IsOfScratch reports a warning that the tests keep their files in memory, as CI does.
func (f Finding) IsOfScratch() bool {
	return f.Check == "file_system" && f.Status == "warning" && strings.HasPrefix(f.Detail, "tmpfs: ")
}

// AsWriter runs a statement in the running engine as the user that owns the
// tables, and returns what it answers.
func AsWriter(t *testing.T, p *harness.Program, sql string) string {
	t.Helper()
	at := engineOf(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at.Address+"/?database=adlens&mutations_sync=1", bytes.NewBufferString(sql))
	Need(t, err)
	request.SetBasicAuth("loader", at.LoaderPassword)
	request.Header.Set("X-Adlens-Gate", at.Gate)
	answer, err := http.DefaultClient.Do(request)
	Need(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", sql, answer.StatusCode, body, err)
	}
	return strings.TrimSpace(string(body))
}

// RedisServer starts a real Redis.
func RedisServer(t *testing.T) (address string, stop func()) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "adlens-redis-") // a socket's path must be short
	Need(t, err)
	path := filepath.Join(dir, "redis.sock")
	command := exec.Command("redis-server", "--port", "0", "--unixsocket", path, "--dir", dir, "--save", "")
	Need(t, command.Start())
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	t.Cleanup(func() {
		stop()
		Need(t, os.RemoveAll(dir))
	})
	for until := time.Now().Add(harness.Patience); ; <-time.After(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return "unix://" + path, stop
		}
		if time.Now().After(until) {
			t.Fatal("redis-server does not listen")
		}
	}
}
