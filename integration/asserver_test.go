package integration_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

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
	need(t, err)
	var e runningEngine
	need(t, json.Unmarshal(content, &e))
	return e
}

// somebodysServer is an engine that looks like somebody's ClickHouse server that
// speaks HTTP. Its loader may do all that is needed.
type somebodysServer struct {
	*httptest.Server
	password string
}

// asServer puts a proxy that has the gate before the engine of a data directory.
// The engine has to run.
func asServer(t *testing.T, p *harness.Program) *somebodysServer {
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
	return &somebodysServer{server, e.LoaderPassword}
}

// loader is the server's address for its loader, who has this password.
func (s *somebodysServer) loader(password string) string {
	return "http://loader:" + password + "@" + s.Listener.Addr().String() + "/adlens"
}
