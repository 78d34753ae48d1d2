package requests_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// common are paths that scanners look for and that some program has answered
// to strangers before.
var common = []string{
	"/metrics", "/debug/pprof", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline", "/debug/vars", "/debug/requests",
	"/status", "/stats", "/health", "/health/live", "/ready", "/live", "/ping", "/version", "/info", "/env", "/config", "/config.json", "/admin", "/login", "/console",
	"/actuator", "/actuator/env", "/actuator/heapdump", "/swagger", "/swagger.json", "/swagger-ui/", "/api", "/api/", "/api/v0/summary", "/api/v1", "/api/v2",
	"/graphql", "/rpc", "/play", "/dashboard", "/replicas_status", "/?query=SELECT+1", "/api/v1/keys", "/api/v1/accounts", "/api/v1/users", "/api/v1/load",
	"/.env", "/.git/HEAD", "/.git/config", "/.aws/credentials", "/.ssh/id_rsa", "/.well-known/openid-configuration", "/etc/passwd", "/../../etc/passwd", "/..%2f..%2fetc/passwd",
	"/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/docs/errors/../../etc/passwd", "/docs/errors/..%2f..%2fetc%2fpasswd", "/static/", "/assets/", "/engine/engine.json",
	"/engine.json", "/adlens-data/engine/engine.json", "/secret.key", "/server-status", "/phpinfo.php", "/wp-login.php", "/cgi-bin/", "/favicon.ico", "/robots.txt", "/crossdomain.xml",
}

// documented are the addresses outside /api/v1 that the contract names.
var documented = []string{"/", "/docs", "/openapi.json", "/healthz", "/readyz"}

func TestTheListenerAnswersDocumentedAddressesAlone(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	anonymous := harness.Client{Address: one.Ask.Address}
	for _, path := range common {
		if slices.Contains(documented, strings.Split(path, "?")[0]) {
			continue
		}
		for _, c := range []harness.Client{anonymous, one.Ask} {
			answers, _, err := c.Exchange("GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + c.Key + "\r\nConnection: close\r\n\r\n")
			house.Need(t, err)
			t.Log(path)
			house.ProblemOf(t, answers[0], 404, "not_found")
		}
	}
}

func TestEveryRouteSaysWhatCachesMayDo(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	anonymous := harness.Client{Address: one.Ask.Address}
	for _, path := range house.Endpoints {
		whole := house.Get(t, one.Ask, "/api/v1"+path)
		for what, a := range map[string]harness.Answer{
			"unchanged":        house.Get(t, one.Ask, "/api/v1"+path, "If-None-Match", whole.Header.Get("ETag")),
			"without a key":    house.Get(t, anonymous, "/api/v1"+path),
			"with a wrong one": house.Get(t, anonymous, "/api/v1"+path, "Authorization", "Bearer x"),
			"with a fault":     house.Get(t, one.Ask, "/api/v1"+path+"&no=thing"),
		} {
			want := "no-store"
			if a.Status == http.StatusNotModified {
				want = "private, no-cache"
			}
			if got := a.Header.Get("Cache-Control"); got != want || a.Status == 200 && path != "/account" {
				t.Errorf("%s %s: status %d, Cache-Control %q", path, what, a.Status, got)
			}
			if got := a.Header.Get("Vary"); got != "Authorization, Accept, Accept-Encoding" && a.Status != 404 {
				t.Errorf("%s %s: status %d, Vary %q", path, what, a.Status, got)
			}
		}
		checkCaching(t, path, whole)
	}
	for path, want := range map[string]string{"/healthz": "no-store", "/readyz": "no-store", "/nowhere": "no-store", "/api/v1/nowhere": "no-store",
		"/docs/errors/none": "no-store", "/docs/errors/invalid_key": "private, max-age=3600"} {
		if a := house.Get(t, anonymous, path); a.Header.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, a.Header.Get("Cache-Control"), want)
		}
	}
	for _, path := range append([]string{"/healthz", "/nowhere", "/docs/errors/invalid_key"}, "/api/v1/summary") {
		if a := house.Get(t, anonymous, path); a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
}

func TestTheMetricsShowNoAccountAndTheirListenerNothingElse(t *testing.T) {
	t.Parallel()
	h := &house.House{Program: house.OwnProgram(t)}
	key, err := h.Account("a-secret-account")
	house.Need(t, err)
	h.Server, err = h.Program.Serve("--metrics-listen", "127.0.0.1:0")
	house.Need(t, err)
	t.Cleanup(func() {
		if err := h.Server.Stop(); err != nil {
			t.Error(err)
		}
	})
	ask := harness.Client{Address: h.Server.Address, Key: key}
	paths := append([]string{"/api/v1/summary?timezone=Asia/Tokyo", "/api/v1/rules/a-secret-rule/runs", "/a-secret-path", "/api/v1/summary?a-secret-parameter=1"}, common...)
	for _, path := range paths {
		house.Get(t, ask, strings.ReplaceAll(path, "//", "/"))
	}
	address, text := house.MetricsOf(t, h.Server)
	for _, secret := range []string{"a-secret", "Tokyo", key[:13], "127.0.0.1", "actuator", h.DataDir} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
	if !strings.Contains(text, `route="/api/v1/rules/:rule_id/runs",status="404"`) {
		t.Errorf("the request of a rule is not counted by its pattern: %.2000s", text)
	}
	metrics := harness.Client{Address: address, Key: key, Other: true}
	for _, path := range append([]string{"/", "/api/v1/account", "/healthz", "/metrics/", "/metrics/x"}, common...) {
		if path == "/metrics" {
			continue
		}
		if a := house.Get(t, metrics, path); a.Status < 300 || a.Status >= 500 || strings.HasPrefix(a.Header.Get("Location"), "http") {
			t.Errorf("the listener of the metrics answers %s with %s", path, a)
		}
	}
	if a, err := metrics.Do("POST", "/metrics"); err != nil || a.Status != 405 {
		t.Errorf("POST /metrics: %v %v", a, err)
	}
}
