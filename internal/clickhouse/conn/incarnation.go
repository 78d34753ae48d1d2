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
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// incarnation is a server from one of its starts to its end, with our tables.
type incarnation struct {
	server string // its UUID
	start  time.Time
	tables string // the UUID of one of them, which the server makes up; "" where there are none
}

// startsApart is how far the starts of two incarnations are apart at least. One is the server's
// time less its whole seconds of running, so it is told a second more or less.
const startsApart = 2 * time.Second

func (i incarnation) is(other incarnation) bool {
	return i.server == other.server && i.tables == other.tables && i.start.Sub(other.start).Abs() <= startsApart
}

// mostIncarnations bounds those that a server is known to have had.
const mostIncarnations = 64

// countDials counts the connections that come about with options. Over the native protocol
// each host has the patience to itself, as without this: the driver's context ends with that
// of the first. A machine may be silent for a patience.
func countDials(options *clickhouse.Options, dials *atomic.Uint64, patience time.Duration) {
	network := net.Dialer{Timeout: options.DialTimeout, Control: boundSilence(patience),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: machinePatience / 3, Interval: machinePatience / 3, Count: 2}}
	dial, native := network.DialContext, options.Protocol == clickhouse.Native
	if options.TLS != nil && native { // over HTTP the driver adds TLS itself
		dial = (&tls.Dialer{NetDialer: &network, Config: options.TLS}).DialContext
	}
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		if native {
			ctx = context.WithoutCancel(ctx)
		}
		c, err := dial(ctx, "tcp", address)
		if err == nil {
			dials.Add(1)
		}
		return c, err
	}
}

// readIncarnation asks over one of the session's connections which server is there.
func (c *Session) readIncarnation(ctx context.Context, user driver.Conn) (i incarnation, err error) {
	var start int64
	rows, err := user.Query(withParams(ctx, nil), `
SELECT toString(serverUUID()), toInt64(toUnixTimestamp(now())) - toInt64(uptime()), any(toString(uuid))
FROM system.tables
WHERE database = currentDatabase() AND name = 'migrations'`)
	if err == nil {
		err = errors.Join(ScanInto(&i.server, &start, &i.tables)(rows), rows.Err(), rows.Close())
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
	if now, err = c.readIncarnation(ctx, c.reader); err != nil {
		return now, err
	}
	if c.apart != "" {
		writer, err := c.readIncarnation(ctx, c.writer)
		if now.tables == "" { // a reader may not see them
			writer.tables = ""
		}
		if err == nil && !writer.is(now) {
			err = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New(c.apart)}
		}
		if err != nil {
			return now, err
		}
	}
	c.confirmed.Store(dials)
	return now, nil
}

// noteServer notes the incarnation at which a new session was inspected, and tells the
// guard of one that is met for the first time.
func (s *Server) noteServer(c *Session, now incarnation) {
	if now == (incarnation{}) {
		return
	}
	s.mu.Lock()
	known := slices.ContainsFunc(s.met, now.is)
	s.mu.Unlock()
	if !known {
		s.checks.Guard.Renew()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.met, now.is) { // a refusal may have come meanwhile
		s.met = append(s.met[max(0, len(s.met)+1-mostIncarnations):], now)
	}
	c.met = slices.Clone(s.met)
}

// confirmServer makes sure that the server was not restarted since the session was inspected.
// The driver replaces a connection that broke while it was idle without a word, and a server
// that starts passes over what its disk lost, or has another disk. So it is identified
// after a statement, if connections came about since it was last.
func (s *Server) confirmServer(ctx context.Context, c *Session) error {
	if c.met == nil || c.dials.Load() == c.confirmed.Load() {
		return nil
	}
	return s.identifyAgain(ctx, c)
}

// identifyAgain is confirmServer whatever connections came about. It accepts what was
// inspected by the time of the session, and not what was since: the statement may have been
// before that.
func (s *Server) identifyAgain(ctx context.Context, c *Session) error {
	dials := c.dials.Load()
	now, err := c.readIncarnation(ctx, c.reader)
	switch {
	case err != nil && s.currentSession() != c: // another statement found it out
		return errRestarted
	case err != nil:
		return err
	case slices.ContainsFunc(c.met, now.is):
		c.confirmed.Store(dials)
		return nil
	}
	s.dropSession(c)
	return errRestarted
}

var errRestarted error = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the server was restarted; it is looked through for what it may have lost")}

// InspectAgain has the guard look through the server, whether it is still the one that was
// inspected last or not: a connection through a proxy may survive its restart.
func (s *Server) InspectAgain(ctx context.Context) error {
	c, err := s.Connect(ctx)
	if err == nil && c.met != nil {
		err = s.identifyAgain(ctx, c)
	}
	if errors.Is(err, errRestarted) {
		c, err = s.Connect(ctx)
	}
	if err != nil {
		return err
	}
	return s.checks.Guard.Inspect(ctx, c)
}
