package deploy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runBalancer runs HAProxy with its file as it is, but for the addresses. The file logs
// has what it prints.
func runBalancer(t *testing.T, servers ...string) (address, logs string) {
	t.Helper()
	haproxy := tool(t, "haproxy")
	text, err := os.ReadFile("compose/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	free.Close()
	config := regexp.MustCompile(`(?m)^ +server (\S+) \S+$`).ReplaceAllString(string(text), "")
	config = strings.Replace(config, "bind :8080", "bind "+address, 1)
	config = strings.Replace(config, "balance leastconn", "balance roundrobin", 1) // so that the first server has its turn
	for i, s := range servers {
		config += fmt.Sprintf("\n    server s%d %s", i, s)
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(haproxy, "-db", "-f", path)
	command.Stderr = t.Output()
	logs = path + ".log"
	out, err := os.Create(logs)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command.Stdout = out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	for until := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address, logs
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

func TestTheBalancerPassesLongAddressesAndRepeatsWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	var failed atomic.Int32
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			failed.Add(1)
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(first.Close)
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(second.Close)
	address, _ := runBalancer(t, first.Listener.Addr().String(), second.Listener.Addr().String())
	ask := func(method, path string) int {
		request, err := http.NewRequest(method, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", strings.Repeat("a", 8<<10))
		answer, err := http.DefaultClient.Do(request)
		if err != nil { // the balancer closes the connection as the server did
			t.Log(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for range 4 {
		if status := ask(http.MethodGet, "/api/v1/report?search="+strings.Repeat("a", 16000)); status != http.StatusOK {
			t.Fatalf("a GET is answered %d", status)
		}
	}
	if failed.Load() == 0 {
		t.Error("no GET was repeated")
	}
	failed.Store(0)
	refused := int32(0)
	for range 4 {
		if ask(http.MethodPost, "/oauth/token") != http.StatusOK {
			refused++
		}
	}
	if got := failed.Load(); got == 0 || refused != got {
		t.Errorf("of four POSTs %d had no answer of a server, and %d were refused: the others were repeated", got, refused)
	}
}

func TestTheBalancerAnswersLikeTheAPIWhileNoServerIsReady(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join(root, "docs/examples/errors/engine_unavailable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Value map[string]any }
	if err := json.Unmarshal(example, &want); err != nil {
		t.Fatal(err)
	}
	address, _ := runBalancer(t, "127.0.0.1:1")
	answer, err := http.Get(address + "/api/v1/summary")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Error(err)
	}
	if id := answer.Header.Get("X-Request-Id"); id == "" || got["request_id"] != id {
		t.Errorf("the request's id is %q in the header and %v in the body", id, got["request_id"])
	}
	want.Value["detail"], want.Value["request_id"] = got["detail"], got["request_id"]
	if diff := cmp.Diff(want.Value, got); diff != "" || got["detail"] == nil {
		t.Errorf("the error differs from the API's (-API +balancer):\n%s", diff)
	}
	if h := answer.Header; answer.StatusCode != http.StatusServiceUnavailable || h.Get("Retry-After") != "2" || h.Get("Content-Type") != "application/problem+json" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer is %d with %v", answer.StatusCode, h)
	}
}

// A server sees the balancer's address alone. The request's id leads from its line to the
// client's address in that of the balancer, which has no token of a link.
func TestTheBalancerLogsTheClientOfARequest(t *testing.T) {
	t.Parallel()
	const token = "feed_live_secret"
	var forwarded atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			forwarded.Store(strings.Join(r.Header.Values("X-Forwarded-For"), ", "))
		}
		w.Header().Set("X-Request-Id", "ANID")
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		server    string
		status    int
		id, takes string // of the answer, and the addresses that the server is sent
	}{{server.Listener.Addr().String(), 200, "ANID", `192.0.2.7", 127.0.0.1`}, {"127.0.0.1:1", 503, "", ""}} {
		address, logs := runBalancer(t, c.server)
		forwarded.Store("")
		request, err := http.NewRequest(http.MethodGet, address+"/feed/"+token+"?key="+token, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", `192.0.2.7"`)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		id := answer.Header.Get("X-Request-Id")
		var line struct {
			Client       string
			ForwardedFor string `json:"forwarded_for"`
			Status       int
			RequestID    string `json:"request_id"`
		}
		var printed []byte
		for until := time.Now().Add(10 * time.Second); line.RequestID != id && time.Now().Before(until); <-time.After(20 * time.Millisecond) {
			if printed, err = os.ReadFile(logs); err != nil {
				t.Fatal(err)
			}
			for each := range strings.Lines(string(printed)) {
				if strings.Contains(each, id) {
					if err := json.Unmarshal([]byte(each), &line); err != nil {
						t.Fatalf("%v: %s", err, each)
					}
				}
			}
		}
		if line.Client != "127.0.0.1" || line.ForwardedFor != `192.0.2.7"` || line.Status != c.status || c.id != "" && id != c.id || strings.Contains(string(printed), token) {
			t.Errorf("of the request %q, answered %d, the log has %+v:\n%s", id, answer.StatusCode, line, printed)
		}
		if got := forwarded.Load(); got != c.takes {
			t.Errorf("the server is sent the addresses %q, expected %q", got, c.takes)
		}
	}
}
