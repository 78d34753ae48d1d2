package deploy_test

import (
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
)

// balancer runs HAProxy with its file as it is, but for the addresses, before two
// servers of which the first closes each connection without an answer.
func balancer(t *testing.T) (address string, failed *atomic.Int32) {
	t.Helper()
	haproxy := tool(t, "haproxy")
	failed = &atomic.Int32{}
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			failed.Add(1)
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(first.Close)
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(second.Close)
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
	servers := regexp.MustCompile(`(?m)^ +server (\S+) \S+$`)
	config := servers.ReplaceAllString(string(text), "")
	config = strings.Replace(config, "bind :8080", "bind "+address, 1)
	config = strings.Replace(config, "balance leastconn", "balance roundrobin", 1) // so that the first server has its turn
	for i, s := range []*httptest.Server{first, second} {
		config += fmt.Sprintf("\n    server s%d %s", i, s.Listener.Addr())
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(haproxy, "-db", "-f", path)
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	for until := time.Now().Add(30 * time.Second); ; <-time.After(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address, failed
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

func TestTheBalancerPassesLongAddressesAndRepeatsWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	address, failed := balancer(t)
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
