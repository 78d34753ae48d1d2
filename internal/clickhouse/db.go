package clickhouse

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
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

// DB is a database of adlens: on one server, embedded or not, or on the shards
// of a cluster.
type DB struct {
	cluster    string    // its name; "" for a database by itself
	home       *server   // the first shard, or the only server
	shards     []*server // home first
	placements *placements
	memory     Memory // of the home's identity

	counts counts
	guard  *guard
	views  *views
	claims sync.Map // account -> *claim, of accounts locked by Leases
}

// Open connects and brings the schema up to date.
func Open(ctx context.Context, source Source) (*DB, error) { return open(ctx, newDB(source)) }

func open(ctx context.Context, db *DB) (*DB, error) {
	for _, s := range db.shards {
		s.prepare = db.prepare
	}
	if err := db.whereReachable(ctx, func(*server) error { return nil }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// newDB is the database of one server, or of the servers of all shards.
func newDB(sources ...Source) *DB {
	db := &DB{guard: newGuard()}
	for _, source := range sources {
		s := &server{source: source, preparing: make(chan struct{}, 1), finding: make(chan struct{}, 1), gate: newGate(max(4, 2*runtime.NumCPU())), guard: db.guard, counts: &db.counts}
		db.shards = append(db.shards, s)
	}
	db.home = db.shards[0]
	if one, ok := sources[0].(interface{ Memory() Memory }); ok {
		db.memory = one.Memory()
	}
	db.placements = newPlacements(db.home)
	db.views = newViews(db)
	return db
}

// Close gives all connections back.
func (db *DB) Close() error {
	var all []error
	for _, s := range db.shards {
		all = append(all, s.close())
	}
	return errors.Join(all...)
}

// Params are the values of a statement's parameters in the server's text
// form.
type Params map[string]string

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

// querier runs reading statements: a server, or a database, which finds the
// server that holds the account.
type querier interface {
	reading(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error
}

// collect runs a reading statement and returns one value for each row.
func collect[T any](ctx context.Context, at querier, sql string, params Params, one func(scan func(...any) error) (T, error)) ([]T, error) {
	var all []T
	err := at.reading(ctx, sql, params, func(rows driver.Rows) error {
		all = all[:0]
		return each(func(scan func(...any) error) error {
			t, err := one(scan)
			all = append(all, t)
			return err
		})(rows)
	})
	return all, err
}

func withParams(ctx context.Context, params Params) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters(params)))
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
	242: adlens.EngineUnavailable, // TABLE_IS_READ_ONLY: a replica that does not reach Keeper
	285: adlens.EngineUnavailable, // TOO_FEW_LIVE_REPLICAS
	286: adlens.EngineUnavailable, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
	289: adlens.EngineUnavailable, // REPLICA_IS_NOT_IN_QUORUM
	319: adlens.EngineUnavailable, // UNKNOWN_STATUS_OF_INSERT: Keeper went away meanwhile
	999: adlens.EngineUnavailable, // KEEPER_EXCEPTION
}

// saysFull matches what the server's system says where a file cannot be written,
// made or synced for want of space. The exceptions have many codes, of whatever
// was being done: CANNOT_FSYNC, CANNOT_OPEN_FILE, STD_EXCEPTION.
var saysFull = regexp.MustCompile(`No space left on device|Disk quota exceeded`)

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
		if saysFull.MatchString(exception.Message) {
			return adlens.DiskFull
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

// dialPatience is how long a connection may take to come about.
const dialPatience = 5 * time.Second
