package clickhouse

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Target is a server and its two users. For a server that is not ours they
// may be one.
type Target struct {
	Reader, Writer *clickhouse.Options
}

// Source tells where the server is now. It is asked at the start, and again
// whenever the server could not be reached: an embedded engine that died is
// started anew, and answers elsewhere.
type Source interface {
	Target(ctx context.Context) (Target, error)
	// Marks are the marks of accounts, nil where there are none: where other
	// machines may change them.
	Marks() Marks
}

// DB is a database of adlens on a server, embedded or not.
type DB struct {
	source Source
	gate   *gate
	counts counts

	finding chan struct{} // held by the one who looks for the server
	mu      sync.Mutex
	pool    *pool

	guard  *guard
	views  *views
	claims sync.Map // account -> *claim, of accounts locked by Leases
}

// pool is the connections to one incarnation of the server.
type pool struct{ reader, writer driver.Conn }

func (p *pool) close() error { return errors.Join(p.reader.Close(), p.writer.Close()) }

// Open connects and brings the schema up to date.
func Open(ctx context.Context, source Source) (*DB, error) {
	db := newDB(source)
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func newDB(source Source) *DB {
	db := &DB{source: source, finding: make(chan struct{}, 1), gate: newGate(max(4, 2*runtime.NumCPU())), guard: newGuard()}
	db.views = newViews(db)
	return db
}

// Close gives all connections back.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.pool == nil {
		return nil
	}
	err := db.pool.close()
	db.pool = nil
	return err
}

// connect returns the connections, opening them where there are none. One
// caller looks for the server, which may take a while; the others wait no
// longer than their contexts let them.
func (db *DB) connect(ctx context.Context) (*pool, error) {
	if p := db.current(); p != nil {
		return p, nil
	}
	select {
	case db.finding <- struct{}{}:
		defer func() { <-db.finding }()
	case <-ctx.Done():
		return nil, &adlens.Error{Kind: adlens.EngineUnavailable, Err: ctx.Err()}
	}
	if p := db.current(); p != nil {
		return p, nil
	}
	p, err := openPool(ctx, db.source)
	if err != nil {
		return nil, err
	}
	if db.guard.isOn() {
		if err := db.inspectPool(ctx, p); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.pool = p
	return p, nil
}

func (db *DB) current() *pool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.pool
}

func openPool(ctx context.Context, source Source) (*pool, error) {
	target, err := source.Target(ctx)
	if err != nil {
		return nil, &adlens.Error{Kind: adlens.EngineUnavailable, Err: err}
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
func (db *DB) drop(lost *pool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.pool == lost {
		db.pool = nil
		go lost.close()
	}
}

// Params are the values of a statement's parameters in the server's text
// form.
type Params map[string]string

// reading runs a statement as the reader, when it is the turn of the account
// that is its parameter. A server that went away in the
// middle is looked for once more inside the deadline: reading twice does no
// harm.
func (db *DB) reading(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	came := time.Now()
	leave, err := db.gate.enter(ctx, params["account"])
	if err != nil {
		db.counts.refused.Add(1)
		return err
	}
	defer leave()
	began := time.Now()
	db.counts.waited.Add(int64(began.Sub(came)))
	defer func() { db.counts.ended(time.Since(began)) }()
	err = db.readOnce(ctx, sql, params, read)
	if adlens.KindOf(err) == adlens.EngineUnavailable && ctx.Err() == nil {
		err = db.readOnce(ctx, sql, params, read)
	}
	return err
}

func (db *DB) readOnce(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	p, err := db.connect(ctx)
	if err != nil {
		return err
	}
	if err := db.guard.refuse(ctx, params["account"]); err != nil {
		return err
	}
	rows, err := p.reader.Query(withParams(ctx, params), sql)
	if err != nil {
		return db.failed(ctx, p, err)
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return db.failed(ctx, p, err)
	}
	// A deadline may show only here, after rows that looked like all.
	return db.failed(ctx, p, rows.Err())
}

// each visits the rows of a statement.
func each(visit func(scan func(...any) error) error) func(driver.Rows) error {
	return func(rows driver.Rows) error {
		for rows.Next() {
			if err := visit(rows.Scan); err != nil {
				return err
			}
		}
		return nil
	}
}

// collect runs a reading statement and returns one value for each row.
func collect[T any](ctx context.Context, db *DB, sql string, params Params, one func(scan func(...any) error) (T, error)) ([]T, error) {
	var all []T
	err := db.reading(ctx, sql, params, func(rows driver.Rows) error {
		all = all[:0]
		return each(func(scan func(...any) error) error {
			t, err := one(scan)
			all = append(all, t)
			return err
		})(rows)
	})
	return all, err
}

// exec runs a writing statement. It is never repeated: after an error nobody
// knows what it did.
func (db *DB) exec(ctx context.Context, sql string, params Params) error {
	p, err := db.connect(ctx)
	if err != nil {
		return err
	}
	return db.failed(ctx, p, p.writer.Exec(withParams(ctx, params), sql))
}

// insert sends one block of columns.
func (db *DB) insert(ctx context.Context, sql string, fill func(driver.Batch) error) error {
	p, err := db.connect(ctx)
	if err != nil {
		return err
	}
	batch, err := p.writer.PrepareBatch(ctx, sql)
	if err != nil {
		return db.failed(ctx, p, err)
	}
	if err := fill(batch); err != nil {
		return errors.Join(err, batch.Abort())
	}
	return db.failed(ctx, p, batch.Send())
}

func withParams(ctx context.Context, params Params) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters(params)))
}

// failed gives an error its kind, and forgets connections to a server that
// is not there.
func (db *DB) failed(ctx context.Context, p *pool, err error) error {
	if err == nil {
		return nil
	}
	kind := kindOf(ctx, err)
	failed := &adlens.Error{Kind: kind, Err: err}
	switch kind {
	case adlens.EngineUnavailable:
		db.drop(p)
	case adlens.Damaged:
		db.guard.sound(failed)
	}
	return failed
}

// Exception codes that say which limit was met. Codes are stable; texts are
// not.
var kindOfCode = map[int32]adlens.Kind{
	159: adlens.QueryTimeout,      // TIMEOUT_EXCEEDED
	160: adlens.QueryTimeout,      // TOO_SLOW
	158: adlens.Overloaded,        // TOO_MANY_ROWS
	201: adlens.Overloaded,        // QUOTA_EXCEEDED
	202: adlens.Overloaded,        // TOO_MANY_SIMULTANEOUS_QUERIES
	241: adlens.Overloaded,        // MEMORY_LIMIT_EXCEEDED
	307: adlens.Overloaded,        // TOO_MANY_BYTES
	396: adlens.Overloaded,        // TOO_MANY_ROWS_OR_BYTES
	243: adlens.DiskFull,          // NOT_ENOUGH_SPACE
	33:  adlens.Damaged,           // CANNOT_READ_ALL_DATA
	40:  adlens.Damaged,           // CHECKSUM_DOESNT_MATCH
	107: adlens.Damaged,           // FILE_DOESNT_EXIST
	226: adlens.Damaged,           // NO_FILE_IN_DATA_PART
	228: adlens.Damaged,           // BAD_SIZE_OF_FILE_IN_DATA_PART
	246: adlens.Damaged,           // CORRUPTED_DATA
	271: adlens.Damaged,           // CANNOT_DECOMPRESS
	394: adlens.Cancelled,         // QUERY_WAS_CANCELLED
	194: adlens.EngineUnavailable, // REQUIRED_PASSWORD: another incarnation
	516: adlens.EngineUnavailable, // AUTHENTICATION_FAILED: another incarnation
}

func kindOf(ctx context.Context, err error) adlens.Kind {
	var known *adlens.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return adlens.QueryTimeout
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, context.Canceled):
		return adlens.Cancelled
	}
	if errors.Is(err, clickhouse.ErrAcquireConnTimeout) {
		return adlens.Overloaded
	}
	var exception *clickhouse.Exception
	if errors.As(err, &exception) {
		if kind, ok := kindOfCode[exception.Code]; ok {
			return kind
		}
		return adlens.Internal
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return adlens.EngineUnavailable
	}
	return adlens.Internal
}

// Ping tells whether the server answers. It does not wait for its turn: a busy
// server is not a dead one.
func (db *DB) Ping(ctx context.Context) error {
	return db.readOnce(ctx, "SELECT 1", nil, each(func(scan func(...any) error) error {
		var one uint8
		return scan(&one)
	}))
}

// dialPatience is how long a connection may take to come about.
const dialPatience = 5 * time.Second
