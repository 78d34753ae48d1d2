package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// wire sends requests over connections that stay open, and reads the answers in
// the goroutine that asked. The client of net/http passes each through two
// others, which takes it as long as a remembered answer takes the server.
type wire struct {
	host string

	mu   sync.Mutex
	idle []*connection
}

// connection is one of them.
type connection struct {
	net.Conn
	in   *bufio.Reader
	used time.Time
}

// staleAfter is well below what the server lets a connection idle.
const staleAfter = 5 * time.Second

// getConnection takes an idle connection or makes one.
func (w *wire) getConnection(ctx context.Context) (*connection, error) {
	w.mu.Lock()
	for len(w.idle) > 0 {
		c := w.idle[len(w.idle)-1]
		w.idle = w.idle[:len(w.idle)-1]
		if time.Since(c.used) < staleAfter {
			w.mu.Unlock()
			return c, nil
		}
		c.Close()
	}
	w.mu.Unlock()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", w.host)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// sendRequest sends a request and returns its answer with the whole body, and the time
// from the first byte sent to the last one read. A request whose context ends
// loses its connection, which is how the server hears of it.
func (w *wire) sendRequest(req *http.Request) (res *http.Response, body []byte, took time.Duration, err error) {
	ctx := req.Context()
	c, err := w.getConnection(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	began := time.Now()
	if err = req.Write(c); err == nil {
		if res, err = http.ReadResponse(c.in, req); err == nil {
			body, err = io.ReadAll(res.Body)
		}
	}
	took = time.Since(began)
	if !stop() || err != nil || res.Close {
		c.Close()
		return res, body, took, err
	}
	c.used = time.Now()
	w.mu.Lock()
	w.idle = append(w.idle, c)
	w.mu.Unlock()
	return res, body, took, nil
}

// close closes the idle connections.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.idle {
		c.Close()
	}
	w.idle = nil
}
