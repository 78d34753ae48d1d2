package cluster_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/integration/harness"
)

// balancer spreads requests over servers that say that they are ready, as any
// balancer does: it looks every 100 ms.
type balancer struct {
	*httptest.Server
	again func(error) bool // whether another server is asked after this error
	mu    sync.Mutex
	doors []*door
	turn  int
	stop  chan struct{}
}

// door is a place for a server; a restarted one has another address.
type door struct {
	server *harness.Server
	ready  bool
	passed int // requests that were answered
}

// newBalancer asks another server where the first refused the connection;
// whatever went wrong, where everything is told to be asked again.
func newBalancer(t *testing.T, servers []*harness.Server, everything bool) *balancer {
	t.Helper()
	b := &balancer{stop: make(chan struct{})}
	b.again = func(err error) bool { return everything || errors.Is(err, syscall.ECONNREFUSED) }
	for _, s := range servers {
		b.doors = append(b.doors, &door{server: s, ready: true})
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the balancer has no answer: "+err.Error(), http.StatusBadGateway)
		},
	}
	b.Server = httptest.NewServer(proxy)
	var looking sync.WaitGroup
	looking.Go(b.look)
	t.Cleanup(func() { close(b.stop); looking.Wait(); b.Server.Close() })
	return b
}

// RoundTrip asks one ready server after the other until one answers whole.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	last := errors.New("no server is ready")
	for range 2 * len(b.doors) {
		d, address := b.next()
		if d == nil {
			return nil, last
		}
		target, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		out := r.Clone(r.Context())
		out.URL.Host = target.Host
		answer, err := complete(out)
		if err == nil {
			b.mu.Lock()
			d.passed++
			b.mu.Unlock()
			return answer, nil
		}
		if last = err; !b.again(err) {
			return nil, err
		}
	}
	return nil, last
}

// complete reads an answer to its end, so that one that breaks can be requested
// again.
func complete(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, err
}

func (b *balancer) next() (*door, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.doors {
		b.turn++
		if d := b.doors[b.turn%len(b.doors)]; d.ready {
			return d, d.server.Address
		}
	}
	return nil, ""
}

// look asks each server whether it is ready.
func (b *balancer) look() {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-ticker.C:
		}
		for i := range b.doors {
			b.mu.Lock()
			server := b.doors[i].server
			b.mu.Unlock()
			a, err := harness.Client{Address: server.Address}.Get("/readyz")
			b.mu.Lock()
			if b.doors[i].server == server {
				b.doors[i].ready = err == nil && a.Status == 200
			}
			b.mu.Unlock()
		}
	}
}

// replace puts a new server into a door; the balancer finds it ready by itself.
func (b *balancer) replace(i int, server *harness.Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.doors[i].server, b.doors[i].ready = server, false
}

func (b *balancer) isReady(i int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doors[i].ready
}

// passed is how many requests each door answered.
func (b *balancer) passed() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []int
	for _, d := range b.doors {
		all = append(all, d.passed)
	}
	return all
}

// address is where the balancer answers.
func (b *balancer) address() string { return strings.TrimSuffix(b.URL, "/") }
