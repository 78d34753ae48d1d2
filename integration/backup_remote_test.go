package integration_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"adlens/integration/harness"
)

// asServer makes the engine of a data directory look like somebody's ClickHouse
// server that speaks HTTP, and returns its address. The engine has to run.
func asServer(t *testing.T, p *harness.Program) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.DataDir, "engine", "engine.json"))
	need(t, err)
	var at struct {
		Address, Gate string
		Password      string `json:"loader_password"`
	}
	need(t, json.Unmarshal(content, &at))
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: at.Address})
		r.Out.Header.Set("X-Adlens-Gate", at.Gate)
	}}
	server := httptest.NewServer(through)
	t.Cleanup(server.Close)
	host, err := url.Parse(server.URL)
	need(t, err)
	return fmt.Sprintf("http://loader:%s@%s/adlens", at.Password, host.Host)
}

// From the embedded engine to a server, and back.
func TestABackupMovesToAServerAndBack(t *testing.T) {
	t.Parallel()
	needEngine(t)
	p := ownProgram(t)
	figures, lists := figuresAndLists(t, p, seed(t), 2)
	place := copied{p, t.TempDir(), nil}
	place.backup(t)

	elsewhere := ownProgram(t)
	serve(t, elsewhere) // so that its engine runs
	server := []string{"--clickhouse", asServer(t, elsewhere)}
	if r := p.Run(append([]string{"restore", "--from", place.place}, server...)...); r.Code != 0 {
		t.Fatalf("restore into a server: %s", r)
	}
	paths := takeFiles(figures, 2)
	figures.model.Load(paths...)
	if r := p.Run(append(p.LoadArgs(figures.files.ID, paths...), server...)...); r.Code != 0 {
		t.Fatalf("load into the server: %s", r)
	}
	moved := copied{p, place.place, server}
	if _, rows := moved.backup(t); rows == 0 {
		t.Error("nothing was new in the server")
	}
	back := serve(t, place.restore(t))
	for _, one := range []*tenant{figures, lists} {
		one.ask.Address = back.Address
		checkAll(t, one.ask, one.model)
	}
}
