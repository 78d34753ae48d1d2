package integration_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server that is not ours: the engine of another installation, as a proxy
// that has its gate shows it. It has a loader, who may do all that is needed,
// and a reader, who may not.
func TestTheDoctorExaminesAServer(t *testing.T) {
	t.Parallel()
	needEngine(t)
	theirs := ownProgram(t)
	serve(t, theirs)
	healthy(t, theirs, "acct")
	var at struct {
		Address        string `json:"address"`
		LoaderPassword string `json:"loader_password"`
		ReaderPassword string `json:"reader_password"`
		Gate           string `json:"gate"`
	}
	text, err := os.ReadFile(filepath.Join(theirs.DataDir, "engine", "engine.json"))
	need(t, err)
	need(t, json.Unmarshal(text, &at))
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: at.Address})
		r.Out.Header.Set("X-Adlens-Gate", at.Gate)
	}})
	t.Cleanup(proxy.Close)
	address := func(user, password string) string {
		return "http://" + user + ":" + password + "@" + strings.TrimPrefix(proxy.URL, "http://") + "/adlens"
	}

	ours := ownProgram(t)
	healthyServer := doctor(t, ours, nil, "--clickhouse", address("loader", at.LoaderPassword))
	for _, f := range healthyServer {
		if strings.HasPrefix(f.Check, "file_") || f.Check == "data_directory" {
			t.Errorf("%s of a server that is not ours", f.Check)
		}
	}
	for _, f := range doctor(t, ours, []sick{{"engine", "failed", "does not let user"}}, "--clickhouse", address("loader", "wr0ng")) {
		if strings.Contains(f.Detail, "wr0ng") {
			t.Errorf("the password is shown: %s", f.Detail)
		}
	}
	proxy.Close()
	doctor(t, ours, []sick{{"engine", "failed", "cannot be reached"}}, "--clickhouse", address("loader", at.LoaderPassword))
	if left, err := os.ReadDir(ours.DataDir); err != nil || len(left) > 0 {
		t.Errorf("our own data directory has %v: %v", left, err)
	}
}
