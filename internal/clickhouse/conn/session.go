package conn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Session is the connections to one incarnation of a server.
type Session struct {
	server         *Server
	reader, writer driver.Conn
	patient        driver.Conn // the writer's, for statements that may take long
	readerHTTP     bool        // whether the reader's connections are HTTP
	writerHTTP     bool
	replica        string // its address; "" for a server without replicas
	types          columnTypes
	caughtUp       caughtUp
	apart          string         // what is wrong if the reader's server is not the writer's; "" for one address
	met            []incarnation  // of the server, that were inspected when the session began
	dials          *atomic.Uint64 // how many connections came about; nil where that is not counted
	confirmed      atomic.Uint64  // how many of them had, when the server was identified last
	target         Target
	suspected      atomic.Bool // while it is looked whether the server answers
}

func (s *Server) openSession(ctx context.Context) (*Session, error) {
	target, err := s.source.Target(ctx)
	if err != nil {
		return nil, unavailableError(ctx, err)
	}
	reader, err := clickhouse.Open(target.Reader)
	if err != nil {
		return nil, err
	}
	writer, err := clickhouse.Open(target.Writer)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	patient, err := clickhouse.Open(withPatience(*target.Writer))
	if err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	c := &Session{server: s, reader: reader, writer: writer, patient: patient, dials: target.Dials, target: target,
		readerHTTP: target.Reader.Protocol == clickhouse.HTTP, writerHTTP: target.Writer.Protocol == clickhouse.HTTP,
		caughtUp: caughtUp{turn: make(chan struct{}, 1), with: map[string]uint64{}}}
	if s.countReplicas() > 1 {
		c.replica = strings.Join(target.Writer.Addr, ", ")
	}
	if r, w := target.Reader.Addr, target.Writer.Addr; !slices.Equal(r, w) {
		c.apart = fmt.Sprintf("the reader's address %s leads to another server than the other one, %s; expected addresses of one server", strings.Join(r, ","), strings.Join(w, ","))
	}
	return c, nil
}

// longPatience is how long a statement may take that writes, or exports rows, where its
// caller set no deadline: a deletion that is waited for, or an insert of what a table has,
// sends nothing before it is done, and over the native protocol the driver's limit is that of
// all rows together. All else takes the driver's own five minutes at most.
const longPatience = 2 * time.Hour

func withPatience(writer clickhouse.Options) *clickhouse.Options {
	writer.ReadTimeout = max(writer.ReadTimeout, longPatience)
	return &writer
}

// IsOf reports whether a session is of a server.
func (c *Session) IsOf(s *Server) bool { return c.server == s }

func (c *Session) close() error {
	return errors.Join(c.reader.Close(), c.writer.Close(), c.patient.Close())
}

// Read runs a reading statement as the user who owns the tables. It takes no turn
// from a request, and reads accounts that are withheld as well.
func (c *Session) Read(ctx context.Context, sql string, params Params, read func(Rows) error) error {
	return c.readAs(ctx, c.writer, sql, params, read)
}

// Export is Read for a statement that may take long.
func (c *Session) Export(ctx context.Context, sql string, params Params, read func(Rows) error) error {
	if !c.server.IsReplicated() {
		return c.readAs(ctx, c.patient, sql, params, read)
	}
	return c.exportWithin(ctx, replicaPatience, sql, params, read)
}

// exportWithin is Export from a replica that may stand still: that it is silent for too
// long, before its first row or between two, is as if it were away.
func (c *Session) exportWithin(ctx context.Context, patience time.Duration, sql string, params Params, read func(Rows) error) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	silence := time.AfterFunc(patience, stop)
	defer silence.Stop()
	err := c.readAs(waiting, c.patient, sql, params, func(rows Rows) error {
		return read(heardRows{rows, func() { silence.Reset(patience) }, func() { silence.Stop() }})
	})
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return unavailableError(ctx, fmt.Errorf("the replica was silent for %s: %w", patience, err))
	}
	return err
}

// heardRows are rows whose server is waited for from await until heard.
type heardRows struct {
	Rows
	await, heard func()
}

func (h heardRows) Next() bool {
	h.await()
	defer h.heard()
	return h.Rows.Next()
}

// ReadAll runs a reading statement on the rows of all accounts.
func (c *Session) ReadAll(ctx context.Context, sql string, read func(Rows) error) error {
	return c.Read(ctx, sql, nil, read)
}

// readAs runs a reading statement as one of the two users.
func (c *Session) readAs(ctx context.Context, user driver.Conn, sql string, params Params, read func(Rows) error) error {
	if err := c.catchUp(ctx, sql); err != nil {
		return err
	}
	if user == c.reader && c.readerHTTP || user != c.reader && c.writerHTTP {
		ctx, sql, params = inlineLong(ctx, sql, params)
	}
	rows, err := user.Query(withParams(ctx, params), sql)
	if err != nil {
		return c.handleError(ctx, err)
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return c.handleError(ctx, err)
	}
	// A deadline may show only here, after rows that looked like all.
	return c.handleError(ctx, rows.Err())
}

// execStatement runs a writing statement.
func (c *Session) execStatement(ctx context.Context, sql string, params Params) error {
	if err := c.catchUp(ctx, sql); err != nil {
		return err
	}
	return c.handleError(ctx, c.runner(sql).Exec(withParams(ctx, params), sql))
}

// runner is the connection for a writing statement. An insert to replicas has the turn of
// its table in this process: of one that stands still the next has to be tried soon.
func (c *Session) runner(sql string) driver.Conn {
	if c.server.IsReplicated() && insertedTable.MatchString(sql) {
		return c.writer
	}
	return c.patient
}

// insertBatch fills a block of columns and sends it.
func (c *Session) insertBatch(ctx context.Context, sql string, fillBatch func(Batch) error) error {
	if err := c.catchUp(ctx, sql); err != nil {
		return err
	}
	batch, err := c.writer.PrepareBatch(c.withTypes(ctx, sql), sql)
	if err != nil {
		return c.handleError(ctx, err)
	}
	if err := fillBatch(batch); err != nil {
		return errors.Join(err, batch.Abort())
	}
	return c.handleError(ctx, batch.Send())
}

// nameReplica says of which replica an error is, where the server has several.
func (c *Session) nameReplica(err error) error {
	if c.replica == "" {
		return err
	}
	return &ReplicaError{c.replica, err}
}

// handleError gives an error its kind, and forgets connections to a server that is not
// there.
func (c *Session) handleError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return c.server.handleError(ctx, c, err)
}
