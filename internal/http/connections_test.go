package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adlens"
	"adlens/internal/query"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sys/unix"
)

// slowWorld answers day totals when it is told to, or when no request waits.
type slowWorld struct {
	*world
	asked   chan struct{} // has a value for each statement that waits
	answer  chan struct{} // closed to answer
	stopped atomic.Int32  // statements that ended because no request waited
}

func newSlowWorld() *slowWorld {
	return &slowWorld{world: newWorld(), asked: make(chan struct{}, 10), answer: make(chan struct{})}
}

func (w *slowWorld) DayTotals(ctx context.Context, s query.Statement) ([]query.DayTotal, error) {
	w.asked <- struct{}{}
	select {
	case <-w.answer:
		return w.world.DayTotals(ctx, s)
	case <-ctx.Done():
		w.stopped.Add(1)
		return nil, &adlens.Error{Kind: adlens.Cancelled, Err: ctx.Err()}
	}
}

func TestTheLimitOfOpenFilesBoundsTheConnections(t *testing.T) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		files, bound uint64
		warnings     int
	}{{maxConnections + otherFiles, maxConnections, 0}, {1024, 824, 1}, {300, 150, 1}} {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: c.files, Max: own.Max}); err != nil {
			t.Skipf("this process may not open so many files: %v", err)
		}
		core, logged := observer.New(zapcore.WarnLevel)
		config := testConfig(newWorld(), keys{"acme-active"})
		config.Log = zap.New(core)
		if s := New(config); s.open.bound != int(c.bound) || logged.FilterField(zap.Uint64("open_files", c.files)).Len() != c.warnings {
			t.Errorf("of %d files %d are for connections, expected %d: %v", c.files, s.open.bound, c.bound, logged.All())
		}
	}
}

// listening starts a server that has at most so many connections.
func listening(t *testing.T, w *slowWorld, bound int) (address string, s *Server, logged *observer.ObservedLogs) {
	t.Helper()
	core, logged := observer.New(zapcore.InfoLevel)
	config := testConfig(w, keys{"acme-active"})
	config.Log = zap.New(core)
	s = New(config)
	s.open.bound = bound
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		s.server.Close()
	})
	return l.Addr().String(), s, logged
}

// client is one end of a connection, which waits ten seconds at most.
type client struct {
	*net.TCPConn
	answers *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return &client{c.(*net.TCPConn), bufio.NewReader(c)}
}

// send sends requests at once.
func (c *client) send(t *testing.T, paths ...string) {
	t.Helper()
	var requests strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, key.Reveal())
	}
	if _, err := io.WriteString(c, requests.String()); err != nil {
		t.Fatal(err)
	}
}

func (c *client) status() (int, string, error) {
	r, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(r.Body)
	return r.StatusCode, string(body), err
}

func TestTheLongestIdleConnectionMakesRoomForANewOne(t *testing.T) {
	w := newSlowWorld()
	address, s, _ := listening(t, w, 3)
	mustBeIdle := func(want int) {
		t.Helper()
		eventually(t, "idle connections", func() bool {
			s.open.mu.Lock()
			defer s.open.mu.Unlock()
			return s.open.idle.Len() == want
		})
	}
	busy := dial(t, address)
	busy.send(t, "/api/v1/summary")
	<-w.asked
	var idle []*client
	for range 2 {
		c := dial(t, address)
		c.send(t, "/healthz")
		if status, _, err := c.status(); status != 200 {
			t.Fatal(status, err)
		}
		idle = append(idle, c)
		mustBeIdle(len(idle))
	}
	for i, c := range idle {
		fresh := dial(t, address)
		fresh.send(t, "/healthz")
		if status, _, err := fresh.status(); status != 200 {
			t.Fatalf("a new client beside idle ones: %d, %v", status, err)
		}
		if _, err := c.answers.ReadByte(); err != io.EOF {
			t.Errorf("idle connection %d was not the one that made room: %v", i, err)
		}
		mustBeIdle(len(idle))
	}
	close(w.answer)
	if status, _, err := busy.status(); status != 200 {
		t.Errorf("a connection that is answered made room: %d, %v", status, err)
	}
}

func TestAConnectionThatBecomesIdleMakesRoomForOneThatWaits(t *testing.T) {
	w := newSlowWorld()
	address, _, _ := listening(t, w, 1)
	busy := dial(t, address)
	busy.send(t, "/api/v1/summary")
	<-w.asked
	waiting := dial(t, address)
	waiting.send(t, "/healthz")
	close(w.answer)
	if status, _, err := busy.status(); status != 200 {
		t.Fatal(status, err)
	}
	if status, _, err := waiting.status(); status != 200 {
		t.Errorf("the one that waited: %d, %v", status, err)
	}
}

func TestAClientThatSendsNoMoreIsAnswered(t *testing.T) {
	for _, paths := range [][]string{{"/api/v1/summary"}, {"/api/v1/summary?range=this_month", "/api/v1/timeline", "/healthz"}, {"/healthz"}} {
		w := newSlowWorld()
		address, _, _ := listening(t, w, 10)
		c := dial(t, address)
		c.send(t, paths...)
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if paths[0] != "/healthz" {
			// The first letter of the answer comes before it, so the server has seen
			// that the client sends no more.
			if letter, err := c.answers.Peek(1); err != nil || letter[0] != 'H' {
				t.Fatalf("%q, %v", letter, err)
			}
			close(w.answer)
		}
		for _, path := range paths {
			if status, body, err := c.status(); status != 200 || err != nil {
				t.Errorf("%s of %v: %d %s %v", path, paths, status, body, err)
			}
		}
		if rest, err := io.ReadAll(c.answers); len(rest) > 0 || err != nil {
			t.Errorf("after the answers of %v: %q, %v", paths, rest, err)
		}
	}
}

// The server of net/http writes 4 KiB of an answer by itself, by which a client would be
// woken before it can have the rest.
func TestAnAnswerArrivesAtOnce(t *testing.T) {
	w := newSlowWorld()
	w.items[0].Title = strings.Repeat("A long name. ", 1000)
	close(w.answer)
	address, _, _ := listening(t, w, 10)
	for _, path := range []string{"/api/v1/reports/products?format=csv", "/api/v1/summary", "/api/v1/reports/products"} {
		c := dial(t, address)
		c.answers = bufio.NewReaderSize(c, 1<<20)
		for range 2 {
			c.send(t, path)
			if _, err := c.answers.Peek(1); err != nil {
				t.Fatal(err)
			}
			arrived := c.answers.Buffered()
			r, err := http.ReadResponse(c.answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(r.Body); r.StatusCode != 200 || err != nil || arrived < len(body) {
				t.Errorf("%s: %d %v, %d bytes arrived at first, the body has %d: %s", path, r.StatusCode, err, arrived, len(body), body[:min(len(body), 200)])
			}
		}
	}
}

// An answer that could not be sent is followed by no other on its connection.
func TestAnAnswerThatCannotBeSentEndsItsConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := halfClosed(accepted)
	defer c.Close()
	done := gatherStart(withConnection(t.Context(), c))
	if _, err := c.Write([]byte("the first answer")); err != nil {
		t.Fatal(err)
	}
	if err := c.SetWriteDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	done()
	if err := c.SetWriteDeadline(time.Time{}); err == nil {
		_, err = c.Write([]byte("the second answer"))
		t.Errorf("after one that was lost, the next answer is sent: %v", err)
	}
}

func TestAClientThatGoesAwayEndsItsWorkAndIsLoggedWithoutACode(t *testing.T) {
	for name, linger := range map[string]int{"with an end": -1, "with a reset": 0} {
		w := newSlowWorld()
		address, _, logged := listening(t, w, 10)
		c := dial(t, address)
		c.send(t, "/api/v1/summary")
		<-w.asked
		c.SetLinger(linger)
		c.Close()
		gone := func() []observer.LoggedEntry {
			return logged.FilterField(zap.Int("status", statusClientIsGone)).All()
		}
		eventually(t, "its end", func() bool { return len(gone()) > 0 && w.stopped.Load() > 0 })
		entries := gone()
		if len(entries) != 1 || w.stopped.Load() != 1 {
			t.Fatalf("%s: %d entries, %d statements stopped", name, len(entries), w.stopped.Load())
		}
		if _, coded := entries[0].ContextMap()["code"]; coded || entries[0].Level != zapcore.InfoLevel || entries[0].Message != "request" {
			t.Errorf("%s: logged %s %+v", name, entries[0].Message, entries[0].ContextMap())
		}
	}
}

func TestAPathIsTheSameHoweverItsLettersAreSpelled(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	plain := ask(h, "/api/v1/summary")
	for _, path := range []string{"/api/v1/%73ummary", "/%61pi/v%31/summar%79", "/api/v1/%73%75%6d%6D%61%72%79"} {
		if got := ask(h, path); got.Code != http.StatusOK || got.Body.String() != plain.Body.String() || got.Header().Get("ETag") != plain.Header().Get("ETag") {
			t.Errorf("%s: %d, %s", path, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/api/v1%2fsummary", "/api/v1/%2e%2e/v1/summary", "/api/v1/%2E/summary", "/api/v1/summary%2f", "/%2e%2e/etc/passwd", "/page/%2e%2e%2fpage.go", "/page/%2e%2e",
		"/api/v1/%2573ummary", "/api/v1/summary%00", "/docs/%2e%2e/openapi.json", "/docs/errors/%2e%2e%2f%2e%2e", "/api/v1/%53ummary"} {
		if got := ask(h, path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d, %s", path, got.Code, got.Body)
		}
	}
}

func TestOptionsOfTheWholeServerAreAProblem(t *testing.T) {
	address, _, _ := listening(t, newSlowWorld(), 10)
	c := dial(t, address)
	if _, err := io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != 404 || r.Header.Get("Content-Type") != "application/problem+json" || r.Header.Get("X-Request-Id") == "" {
		t.Errorf("OPTIONS *: %d %v", r.StatusCode, r.Header)
	}
}
