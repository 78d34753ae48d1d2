package conn

import (
	"context"
	"errors"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// CreateDatabase makes the database before anything can connect to it. It looks
// first: a user who may not make databases can still use one that is there.
func (s *Server) CreateDatabase(ctx context.Context) error {
	target, err := s.Find(ctx)
	if IsUnknownDatabase(err) {
		err = execAt(ctx, target.Writer, "", "CREATE DATABASE IF NOT EXISTS "+QuoteIdentifier(target.Writer.Auth.Database))
	}
	if err != nil {
		return &adlens.Error{Kind: KindOf(ctx, err), Err: err}
	}
	return nil
}

// Find finds the server and waits until it answers. One that has ended since it
// was found is looked for once more: an embedded engine is started by that, or its
// error says why it cannot start. A server that took all its time is not tried
// again.
func (s *Server) Find(ctx context.Context) (Target, error) {
	target, err := s.findOnce(ctx)
	var other *stranger
	if errors.As(err, &other) && !errors.Is(err, context.DeadlineExceeded) {
		target, err = s.findOnce(ctx)
	}
	// An engine that answers once and then ends is one that met a full disk.
	if embedded, ok := s.source.(Embedded); ok && errors.As(err, &other) {
		if full := embedded.Engine.FullDisk(); full != nil {
			return target, &adlens.Error{Kind: adlens.DiskFull, Err: full}
		}
	}
	return target, err
}

func (s *Server) findOnce(ctx context.Context) (Target, error) {
	target, err := s.source.Target(ctx)
	if err != nil {
		return Target{}, unavailableError(ctx, err)
	}
	return target, probeServer(ctx, target.Writer)
}

// probeServer tries whether a server answers and lets us in.
func probeServer(ctx context.Context, options *clickhouse.Options) error {
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	err := execAt(ctx, options, options.Auth.Database, "SELECT 1")
	var exception *clickhouse.Exception
	if err == nil || errors.As(err, &exception) {
		return err
	}
	return &stranger{err}
}

// stranger is what answered when we knocked, if anything did: no ClickHouse.
type stranger struct{ err error }

func (s *stranger) Error() string { return "no ClickHouse server answers: " + s.err.Error() }

func (s *stranger) Unwrap() error { return s.err }

// knockPatience is how long a server may take to answer at all.
const knockPatience = 15 * time.Second

// execAt runs a statement over a connection of its own.
func execAt(ctx context.Context, options *clickhouse.Options, database, sql string) error {
	one := *options
	one.Auth.Database = database
	conn, err := clickhouse.Open(&one)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, sql), conn.Close())
}

// askAt runs a reading statement over a connection of its own.
func askAt(ctx context.Context, options *clickhouse.Options, database, sql string, params Params, read func(Rows) error) error {
	one := *options
	one.Auth.Database = database
	conn, err := clickhouse.Open(&one)
	if err != nil {
		return err
	}
	defer conn.Close()
	rows, err := conn.Query(withParams(ctx, params), sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	return errors.Join(read(rows), rows.Err())
}
