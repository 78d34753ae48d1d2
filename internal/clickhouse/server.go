package clickhouse

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// server is one ClickHouse, which holds all of a database or a shard of it.
type server struct {
	number uint16 // of the shard; 0 where there is only one server
	source Source
	gate   *gate
	guard  *guard  // of the database
	counts *counts // of the database

	// prepare brings the schema up to date before anything else is done at the
	// server; nil where it is taken as it is.
	prepare   func(context.Context, *server) error
	preparing chan struct{} // held by the one who does
	prepared  atomic.Bool
	id        string // the database's identity, once it was prepared

	finding chan struct{} // held by the one who looks for the server
	mu      sync.Mutex
	pool    *pool
	refused error // why nothing of it is used: it is not the server that it was
}

// pool is the connections to one incarnation of the server.
type pool struct{ reader, writer driver.Conn }

func (p *pool) close() error { return errors.Join(p.reader.Close(), p.writer.Close()) }

// ready prepares the server where nobody has. A shard may have been away when
// the others were opened.
func (s *server) ready(ctx context.Context) error {
	if s.prepared.Load() || s.prepare == nil {
		return nil
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return unavailable(ctx, ctx.Err())
	}
	if s.prepared.Load() {
		return nil
	}
	if err := s.refuse(s.prepare(ctx, s)); err != nil {
		if p := s.current(); p != nil && isRefusal(err) {
			s.drop(p) // another server may be there the next time
		}
		return err
	}
	if s.guard.isOn() { // it was away when the others were looked through
		p, err := s.connect(ctx)
		if err == nil {
			err = s.inspectPool(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	s.prepared.Store(true)
	return nil
}

// close gives all connections back.
func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		return nil
	}
	err := s.pool.close()
	s.pool = nil
	return err
}

// connect returns the connections, opening them where there are none. One
// caller looks for the server, which may take a while; the others wait no
// longer than their contexts let them.
func (s *server) connect(ctx context.Context) (*pool, error) {
	if p := s.current(); p != nil {
		return p, nil
	}
	select {
	case s.finding <- struct{}{}:
		defer func() { <-s.finding }()
	case <-ctx.Done():
		return nil, unavailable(ctx, ctx.Err())
	}
	if p := s.current(); p != nil {
		return p, nil
	}
	p, err := openPool(ctx, s.source)
	if err != nil {
		return nil, err
	}
	err = s.stillItself(ctx, p)
	if err == nil && s.guard.isOn() && (s.prepare == nil || s.prepared.Load()) {
		err = s.inspectPool(ctx, p)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pool = p
	return p, nil
}

func (s *server) current() *pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool
}

// unavailable is why no server was found. Who left while it was looked for has
// not seen that it is away.
func unavailable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &adlens.Error{Kind: adlens.Cancelled, Err: err}
	}
	return &adlens.Error{Kind: adlens.EngineUnavailable, Err: err}
}

func openPool(ctx context.Context, source Source) (*pool, error) {
	target, err := source.Target(ctx)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	reader, err := clickhouse.Open(target.Reader)
	if err != nil {
		return nil, err
	}
	writer, err := clickhouse.Open(target.Writer)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return &pool{reader, writer}, nil
}

// drop forgets connections that turned out to lead nowhere, unless somebody
// else has done so already.
func (s *server) drop(lost *pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == lost {
		s.pool = nil
		go lost.close()
	}
}

// reading runs a statement as the reader, when it is the turn of the account
// that is its parameter. A server that went away in the
// middle is looked for once more inside the deadline: reading twice does no
// harm.
func (s *server) reading(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	came := time.Now()
	leave, err := s.gate.enter(ctx, params["account"])
	if err != nil {
		s.counts.refused.Add(1)
		return err
	}
	defer leave()
	began := time.Now()
	s.counts.waited.Add(int64(began.Sub(came)))
	defer func() { s.counts.ended(time.Since(began)) }()
	err = s.readOnce(ctx, sql, params, read)
	if adlens.KindOf(err) == adlens.EngineUnavailable && ctx.Err() == nil {
		err = s.readOnce(ctx, sql, params, read)
	}
	return err
}

func (s *server) readOnce(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	if err := s.guard.refuse(ctx, params["account"]); err != nil {
		return err
	}
	return s.ask(ctx, p, p.reader, sql, params, read)
}

// ask runs a reading statement as one of the two users.
func (s *server) ask(ctx context.Context, p *pool, as driver.Conn, sql string, params Params, read func(driver.Rows) error) error {
	rows, err := as.Query(withParams(ctx, params), sql)
	if err != nil {
		return s.failed(ctx, p, err)
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return s.failed(ctx, p, err)
	}
	// A deadline may show only here, after rows that looked like all.
	return s.failed(ctx, p, rows.Err())
}

// exec runs a writing statement. It is never repeated: after an error nobody
// knows what it did.
func (s *server) exec(ctx context.Context, sql string, params Params) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return s.failed(ctx, p, p.writer.Exec(withParams(ctx, params), sql))
}

// insert sends one block of columns.
func (s *server) insert(ctx context.Context, sql string, fill func(driver.Batch) error) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	batch, err := p.writer.PrepareBatch(ctx, sql)
	if err != nil {
		return s.failed(ctx, p, err)
	}
	if err := fill(batch); err != nil {
		return errors.Join(err, batch.Abort())
	}
	return s.failed(ctx, p, batch.Send())
}

// failed gives an error its kind, and forgets connections to a server that
// is not there.
func (s *server) failed(ctx context.Context, p *pool, err error) error {
	if err == nil {
		return nil
	}
	if isUnknown(err) && ctx.Value(verifying{}) == nil {
		if other := s.stillItself(ctx, p); other != nil {
			s.drop(p)
			return other
		}
	}
	kind := kindOf(ctx, err)
	failed := &adlens.Error{Kind: kind, Err: err}
	switch kind {
	case adlens.EngineUnavailable:
		s.drop(p)
	case adlens.Damaged:
		if ctx.Value(inspecting{}) == nil { // who looks for damage knows what to do
			s.guard.sound(failed)
		}
	}
	return failed
}

// asOwner runs a reading statement as the user that owns the tables, who may
// look into the system's as well.
func (s *server) asOwner(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return s.inspectAt(ctx, p, sql, params, read)
}

// inspectAt runs a reading statement as the one who may look into everything,
// taking no turn from a request.
func (s *server) inspectAt(ctx context.Context, p *pool, sql string, params Params, read func(driver.Rows) error) error {
	return s.ask(ctx, p, p.writer, sql, params, read)
}

// inspect runs a statement of one text on the system tables, into which only
// the loader may look.
func (s *server) inspect(ctx context.Context, sql string, visit func(text string)) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return s.inspectAt(ctx, p, sql, nil, each(func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		visit(text)
		return err
	}))
}

// exporting runs a statement that reads much, as the loader: no deadline is
// set to it, and it takes no turn from a request. It is not repeated, because
// visit has seen rows.
func (s *server) exporting(ctx context.Context, sql string, params Params, visit func(scan func(...any) error) error) error {
	p, err := s.connect(ctx)
	if err != nil {
		return err
	}
	rows, err := p.writer.Query(withParams(ctx, params), sql)
	if err != nil {
		return s.failed(ctx, p, err)
	}
	defer rows.Close()
	err = errors.Join(each(visit)(rows), rows.Err())
	return s.failed(ctx, p, err)
}

// ping tells whether the server answers. It does not wait for its turn: a busy
// server is not a dead one.
func (s *server) ping(ctx context.Context) error {
	return s.readOnce(ctx, "SELECT 1", nil, each(func(scan func(...any) error) error {
		var one uint8
		return scan(&one)
	}))
}
