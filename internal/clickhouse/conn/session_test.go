package conn

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// silentServer speaks HTTP as a server that greets, and then says nothing about a
// statement until it is told to.
type silentServer struct {
	address string
	zone    string              // its time zone, UTC if empty
	block   []byte              // what it answers instead of nothing
	status  int                 // what a gateway before it answers instead
	writer  *clickhouse.Options // of its other user, the same if nil
	query   atomic.Value        // string: of the address that was requested last
	came    chan string         // the statements
	done    chan struct{}       // closed when they are
}

func startSilent(t *testing.T) *silentServer {
	s := &silentServer{came: make(chan string, 9), done: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.query.Store(r.URL.RawQuery)
		if strings.HasPrefix(string(text), "SELECT displayName()") {
			w.Write(greeting(cmp.Or(s.zone, "UTC")))
			return
		}
		if s.status != 0 {
			http.Error(w, "<html>", s.status)
			return
		}
		if s.block != nil {
			w.Write(s.block)
			return
		}
		s.came <- string(text)
		select {
		case <-s.done:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	s.address = server.Listener.Addr().String()
	return s
}

// connectSilent is a session to a server that is silent.
func connectSilent(t *testing.T) (*silentServer, *Session) {
	t.Helper()
	silent := startSilent(t)
	server := NewServer(silent, Checks{})
	t.Cleanup(func() { server.Close() })
	c, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return silent, c
}

// greeting is the row of the driver's first question.
func greeting(zone string) []byte {
	return blockOf("displayName()", "silent", "version()", "26.1.1.1", "revision()", uint32(54479), "timezone()", zone)
}

// blockOf is a block of one row: the name of each column and its value.
func blockOf(columns ...any) []byte {
	block := []byte{1, 0, 2, 0, 0, 0, 0, 0, byte(len(columns) / 2), 1} // what is told of a block, and its size
	addText := func(text string) { block = append(append(block, byte(len(text))), text...) }
	for c := range slices.Chunk(columns, 2) {
		addText(c[0].(string))
		switch value := c[1].(type) {
		case string:
			addText("String")
			block = append(block, 0) // written as always
			addText(value)
		case uint32:
			addText("UInt32")
			block = binary.LittleEndian.AppendUint32(append(block, 0), value)
		case int64:
			addText("Int64")
			block = binary.LittleEndian.AppendUint64(append(block, 0), uint64(value))
		}
	}
	return block
}

func (s *silentServer) Target(context.Context) (Target, error) {
	options := &clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{s.address}, DialTimeout: DialPatience, ReadTimeout: 2 * time.Second}
	return Target{Reader: options, Writer: cmp.Or(s.writer, options)}, nil
}

func (s *silentServer) Marks() Marks { return nil }

// A deletion or an insert of what a table has sends nothing before it is done. The server
// went on with it, and the command had failed. An export may take as long.
func TestStatementsThatWriteOrExportMayBeSilentForLongerThanOthers(t *testing.T) {
	t.Parallel()
	silent := startSilent(t)
	server := NewServer(silent, Checks{})
	defer server.Close()
	long := make(chan error, 2)
	go func() { long <- server.Exec(t.Context(), "ALTER TABLE facts DELETE WHERE 1", nil) }()
	go func() {
		long <- server.Export(t.Context(), "SELECT count() FROM facts", nil, func(Scan) error { return nil })
	}()
	for range cap(long) {
		select {
		case <-silent.came:
		case err := <-long:
			t.Fatal("it did not come to the server", err)
		}
	}
	for name, read := range map[string]func(context.Context, string, Params, func(Rows) error) error{"the reader": server.ReadOnce, "the owner": server.ReadAsOwner} {
		var one uint8
		if err := read(t.Context(), "SELECT 1", nil, ScanInto(&one)); adlens.KindOf(err) != adlens.QueryTimeout {
			t.Errorf("%s, to whom the server is silent: %v", name, err)
		}
	}
	close(silent.done)
	for range cap(long) {
		if err := <-long; err != nil {
			t.Errorf("a statement that took longer: %v", err)
		}
	}
}

// A deadline of its own ends a writing statement as before.
func TestADeadlineEndsASilentStatement(t *testing.T) {
	t.Parallel()
	silent := startSilent(t)
	server := NewServer(silent, Checks{})
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := server.Exec(ctx, "ALTER TABLE facts DELETE WHERE 1", nil); adlens.KindOf(err) != adlens.QueryTimeout {
		t.Errorf("after its deadline: %v", err)
	}
}

// Of replicas one that stands still must not keep the turn of a table for long.
func TestAnInsertToReplicasHasTheShorterPatience(t *testing.T) {
	t.Parallel()
	_, c := connectSilent(t)
	const insert, deletion = "INSERT INTO leases SELECT 1", "ALTER TABLE facts DELETE WHERE 1"
	if c.runner(insert) != c.patient || c.runner(deletion) != c.patient {
		t.Error("without replicas a statement has the shorter patience")
	}
	c.server = &Server{source: Remote{replicated: true}}
	if c.runner(insert) != c.writer || c.runner(deletion) != c.patient {
		t.Error("with replicas an insert has the longer patience, or a deletion the shorter")
	}
}

// An export may take two hours, but not from a replica that stands still: another one
// gives its rows.
func TestAnExportLeavesAReplicaThatIsSilent(t *testing.T) {
	t.Parallel()
	silent, c := connectSilent(t)
	if err := c.exportWithin(t.Context(), 50*time.Millisecond, "SELECT 1", nil, func(Rows) error { return nil }); adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("an export from a replica that says nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-silent.came
		<-silent.came
		cancel()
	}()
	if err := c.exportWithin(ctx, time.Minute, "SELECT 1", nil, func(Rows) error { return nil }); adlens.KindOf(err) != adlens.Cancelled {
		t.Errorf("an export whose caller goes away: %v", err)
	}
}

// slowReplica gives rows, each after a while.
type slowReplica struct {
	driver.Conn
	each []time.Duration
}

func (r *slowReplica) Query(ctx context.Context, _ string, _ ...any) (driver.Rows, error) {
	return &slowRows{ctx: ctx, each: r.each}, nil
}

type slowRows struct {
	driver.Rows
	ctx  context.Context
	each []time.Duration
}

func (r *slowRows) Next() bool {
	if len(r.each) == 0 {
		return false
	}
	select {
	case <-time.After(r.each[0]):
		r.each = r.each[1:]
		return true
	case <-r.ctx.Done():
		return false
	}
}

func (r *slowRows) Err() error   { return r.ctx.Err() }
func (r *slowRows) Close() error { return nil }

// That a backup is slow to write what it has is no silence of the replica.
func TestAnExportWaitsForEachRowAndNotForItsCaller(t *testing.T) {
	for name, c := range map[string]struct {
		each  []time.Duration
		visit time.Duration
		want  int
		fails bool
	}{
		"a replica that takes its time":        {[]time.Duration{replicaPatience - 1, replicaPatience - 1, replicaPatience - 1}, 0, 3, false},
		"a caller that takes longer":           {[]time.Duration{0, 0, 0}, 2 * replicaPatience, 3, false},
		"a replica that is silent at first":    {[]time.Duration{replicaPatience + 1}, 0, 0, true},
		"a replica that is silent between two": {[]time.Duration{0, replicaPatience + 1}, 0, 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := NewServer(Remote{replicated: true, writer: &clickhouse.Options{Addr: []string{"one"}}, doors: &doors{}}, Checks{})
			session, visited := &Session{server: server, patient: &slowReplica{each: c.each}}, 0
			err := session.Export(t.Context(), "SELECT 1", nil, EachRow(func(Scan) error {
				visited++
				time.Sleep(c.visit)
				return nil
			}))
			if visited != c.want || (adlens.KindOf(err) == adlens.EngineUnavailable) != c.fails || (err != nil) != c.fails {
				t.Errorf("%s: %d rows: %v", name, visited, err)
			}
		})
	}
}

// What stays open of a session that was dropped is taken from those that follow.
func TestASessionIsClosedWithAllItsConnections(t *testing.T) {
	t.Parallel()
	_, c := connectSilent(t)
	if err := c.server.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // an open one would be silent
	defer cancel()
	for name, user := range map[string]driver.Conn{"the reader": c.reader, "the owner": c.writer, "the owner's for long statements": c.patient} {
		if err := user.Ping(ctx); !errors.Is(err, clickhouse.ErrConnectionClosed) {
			t.Errorf("%s is open: %v", name, err)
		}
	}
	if c.server.currentSession() != nil {
		t.Error("a server that was closed has a session")
	}
}

// Where summer time begins at midnight, a day has none: there the driver gives the last
// hour of the day before, unless it is told to give midnights of UTC.
func TestADayWithoutMidnightIsItself(t *testing.T) {
	t.Parallel()
	want, err := adlens.ParseDay("2025-09-07")
	if err != nil {
		t.Fatal(err)
	}
	silent := startSilent(t)
	silent.zone = "America/Santiago"
	silent.block = binary.LittleEndian.AppendUint16([]byte("\x01\x00\x02\x00\x00\x00\x00\x00\x01\x01\x03day\x04Date\x00"), uint16(want))
	server := NewServer(silent, Checks{})
	defer server.Close()
	var day time.Time
	for name, read := range map[string]func(context.Context, string, Params, func(Rows) error) error{"the reader": server.ReadOnce, "the owner": server.ReadAsOwner} {
		if err := read(t.Context(), "SELECT day FROM facts", nil, ScanInto(&day)); err != nil || adlens.DayOf(day) != want {
			t.Errorf("%s reads %v (%v), want %v", name, day, err, want)
		}
	}
}

// What is long goes into a statement's text where its own connection speaks HTTP, whatever
// those of the other user do.
func TestAReaderOverHTTPBesideANativeWriterHasShortAddresses(t *testing.T) {
	t.Parallel()
	silent := startSilent(t)
	silent.block = blockOf("number", int64(7))
	silent.writer = &clickhouse.Options{Addr: []string{silent.address}}
	server := NewServer(silent, Checks{})
	defer server.Close()
	var got int64
	long := Params{"ids": "[" + strings.Repeat("1234567,", 1<<15) + "1]"}
	err := server.ReadOnce(t.Context(), "SELECT count() WHERE 1 IN {ids:Array(UInt32)}", long, ScanInto(&got))
	if query := silent.query.Load().(string); err != nil || got != 7 || len(query) > longestParams {
		t.Errorf("it reads %d by an address of %d bytes: %v", got, len(query), err)
	}
}
