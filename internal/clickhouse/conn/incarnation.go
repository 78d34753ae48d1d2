package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// incarnation is a server from one of its starts to its end.
type incarnation struct {
	server string // its UUID
	start  time.Time
}

// startsApart is how far the starts of two incarnations are apart at least. One is the server's
// time less its whole seconds of running, so it is told a second more or less.
const startsApart = 2 * time.Second

func (i incarnation) is(other incarnation) bool {
	return i.server == other.server && i.start.Sub(other.start).Abs() <= startsApart
}

// mostIncarnations bounds those that a server is known to have had.
const mostIncarnations = 64

// countDials counts the connections that come about with options.
func countDials(options *clickhouse.Options, dials *atomic.Uint64) {
	network := net.Dialer{Timeout: options.DialTimeout}
	dial := network.DialContext
	if options.TLS != nil && options.Protocol == clickhouse.Native { // over HTTP the driver adds TLS itself
		dial = (&tls.Dialer{NetDialer: &network, Config: options.TLS}).DialContext
	}
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		c, err := dial(ctx, "tcp", address)
		if err == nil {
			dials.Add(1)
		}
		return c, err
	}
}

// readIncarnation asks the server which it is.
func (c *Session) readIncarnation(ctx context.Context) (i incarnation, err error) {
	var start int64
	rows, err := c.reader.Query(ctx, "SELECT toString(serverUUID()), toInt64(toUnixTimestamp(now())) - toInt64(uptime())")
	if err == nil {
		err = errors.Join(ScanInto(&i.server, &start)(rows), rows.Err(), rows.Close())
	}
	i.start = time.Unix(start, 0)
	return i, c.handleError(ctx, err)
}

// identifySession returns the incarnation that a new session leads to, the zero one where
// that needs not be known.
func (s *Server) identifySession(ctx context.Context, c *Session) (now incarnation, err error) {
	if c.dials == nil || s.checks.Guard == nil {
		return now, nil
	}
	dials := c.dials.Load()
	if now, err = c.readIncarnation(ctx); err == nil {
		c.met.Store(dials)
	}
	return now, err
}

// noteServer notes the incarnation at which a new session was inspected, and tells the
// guard of one that is met for the first time.
func (s *Server) noteServer(now incarnation) {
	if now == (incarnation{}) || s.hasMet(now) {
		return
	}
	s.checks.Guard.Renew()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met = append(s.met[max(0, len(s.met)+1-mostIncarnations):], now)
}

// confirmServer makes sure that the server was not restarted since it was inspected. The
// driver replaces a connection that broke while it was idle without a word, and a server
// that starts passes over what its disk lost, or has another disk. So it is identified
// after a statement, if connections came about since it was last.
func (s *Server) confirmServer(ctx context.Context, c *Session) error {
	if c.dials == nil || c.dials.Load() == c.met.Load() {
		return nil
	}
	now, err := s.identifySession(ctx, c)
	if err != nil || now == (incarnation{}) || s.hasMet(now) {
		return err
	}
	s.dropSession(c)
	return errRestarted
}

var errRestarted error = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the server was restarted; it is looked through for what it may have lost")}

func (s *Server) hasMet(i incarnation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.met, i.is)
}
