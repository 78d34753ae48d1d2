package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// startedServer speaks HTTP as a server that tells when it was started, and has one number.
type startedServer struct {
	*httptest.Server
	start, number  atomic.Int64
	server, tables atomic.Value  // string: their UUIDs
	ends           atomic.Bool   // whether it ends each connection after an answer
	identified     atomic.Int64  // how often it was asked which it is
	held           atomic.Int64  // how often a statement came that waits
	came, release  chan struct{} // closed when the first did, and by the test to let it go on
}

func newStarted(t *testing.T) *startedServer {
	s := &startedServer{came: make(chan struct{}), release: make(chan struct{})}
	s.server.Store("one")
	s.tables.Store("ours")
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if s.ends.Load() {
			w.Header().Set("Connection", "close")
		}
		switch {
		case strings.HasPrefix(string(text), "SELECT displayName()"):
			w.Write(greeting("UTC"))
			return
		case strings.Contains(string(text), "serverUUID()"):
			s.identified.Add(1)
			w.Write(blockOf("server", s.server.Load(), "start", s.start.Load(), "tables", s.tables.Load()))
			return
		case strings.Contains(string(text), "groupArray(name)"):
			return // no table has replicas
		case strings.Contains(string(text), "max(number) FROM migrations"):
			w.Write(blockOf("number", uint32(1)))
			return
		case strings.Contains(string(text), "held"):
			if s.held.Add(1) == 1 {
				close(s.came)
				<-s.release
			}
		}
		w.Write(blockOf("number", s.number.Load()))
	}))
	t.Cleanup(s.Close)
	return s
}

// watcher counts what a guard hears.
type watcher struct{ inspected, renewed int }

func (w *watcher) Admit(string) error                      { return nil }
func (w *watcher) Alarm(error)                             {}
func (w *watcher) Inspect(context.Context, *Session) error { w.inspected++; return nil }
func (w *watcher) Renew()                                  { w.renewed++ }

func (w *watcher) expect(t *testing.T, when string, inspected, renewed int) {
	t.Helper()
	if w.inspected != inspected || w.renewed != renewed {
		t.Errorf("%s: inspected %d times, want %d; renewed %d times, want %d", when, w.inspected, inspected, w.renewed, renewed)
	}
}

// watched is a server at addresses of a host each for the writer and the reader.
func watched(t *testing.T, writer, reader *startedServer) (*Server, *watcher) {
	t.Helper()
	source, err := NewRemote(RemoteConfig{Address: "http://writer:secret@" + writer.Listener.Addr().String() + "/adlens",
		Reader: "http://reader:secret@" + reader.Listener.Addr().String() + "/adlens"})
	if err != nil {
		t.Fatal(err)
	}
	heard := &watcher{}
	server := NewServer(source, Checks{Guard: heard})
	t.Cleanup(func() { server.Close() })
	return server, heard
}

// A server that is restarted while no statement runs breaks connections that are idle, which
// the driver replaces without a word. Its disk may have lost rows, or be another one.
func TestAServerThatWasRestartedBetweenStatementsIsInspected(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server, heard := watched(t, started, started)
	now := time.Now().Unix()
	for _, step := range []struct {
		name               string
		start              int64 // seconds since the first one
		ends               bool  // connections, before the next step
		inspected, renewed int
		identified         bool
	}{
		{"first", 0, false, 1, 1, true},
		{"the same connection", 0, true, 1, 1, false},
		{"other connections to the same start, which is told a second more", 1, true, 1, 1, true},
		{"restarted", 60, false, 2, 2, true},
		{"its connection", 60, true, 2, 2, false},
	} {
		started.start.Store(now + step.start)
		started.number.Store(step.start)
		started.ends.Store(step.ends)
		before := started.identified.Load()
		var got int64
		if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(&got)); err != nil || got != step.start {
			t.Errorf("%s: it reads %d: %v", step.name, got, err)
		}
		heard.expect(t, step.name, step.inspected, step.renewed)
		if identified := started.identified.Load() > before; identified != step.identified {
			t.Errorf("%s: the server was identified: %t, want %t", step.name, identified, step.identified)
		}
	}
}

// That one statement has had the server inspected says nothing of another that read before.
func TestEveryStatementThatReadBeforeTheInspectionIsBegunOnceMore(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server, heard := watched(t, started, started)
	started.ends.Store(true)
	var got int64
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(&got)); err != nil {
		t.Fatal(err)
	}
	started.start.Store(60)
	late := make(chan error, 1)
	go func() { late <- server.ReadOnce(t.Context(), "SELECT number, held", nil, ScanInto(new(int64))) }()
	<-started.came
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(&got)); err != nil {
		t.Error(err)
	}
	heard.expect(t, "once another has found it out", 2, 2)
	close(started.release)
	if err := <-late; err != nil || started.held.Load() != 2 {
		t.Errorf("a statement that read before the inspection was begun %d times, want 2: %v", started.held.Load(), err)
	}
	heard.expect(t, "after both", 2, 2)
}

// A connection through a proxy survives a restart, and tables may be dropped and restored
// without one.
func TestAServerIsIdentifiedWhenItIsInspectedAndAfterARefusal(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server, heard := watched(t, started, started)
	inspect := func(when string, inspected, renewed int) {
		t.Helper()
		if err := server.InspectAgain(t.Context()); err != nil {
			t.Error(err)
		}
		heard.expect(t, when, inspected, renewed)
	}
	inspect("at first, in the opening and by itself", 2, 1)
	inspect("again", 3, 1)
	started.start.Store(60)
	inspect("after a restart that the connection survived", 5, 2)
	server.NoteRefusal(Refusal("the tables are gone"))
	server.Disconnect()
	inspect("with the tables back", 7, 3)
}

// Another server may have been started in the same second, and tables be dropped and restored
// under a server that runs on.
func TestAnotherServerAndOtherTablesAreInspected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*startedServer){
		"another server": func(s *startedServer) { s.server.Store("two") },
		"other tables":   func(s *startedServer) { s.tables.Store("others") },
	} {
		started := newStarted(t)
		server, heard := watched(t, started, started)
		if err := server.InspectAgain(t.Context()); err != nil {
			t.Error(err)
		}
		heard.expect(t, name+", before", 2, 1)
		change(started)
		if err := server.InspectAgain(t.Context()); err != nil {
			t.Error(err)
		}
		heard.expect(t, name, 4, 2)
	}
}

// The reader's rights may be for a view of the tables that names none of them.
func TestAReaderWhoSeesNoTablesIsAtTheSameServer(t *testing.T) {
	t.Parallel()
	writer, reader := newStarted(t), newStarted(t)
	reader.tables.Store("")
	server, _ := watched(t, writer, reader)
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(new(int64))); err != nil {
		t.Error(err)
	}
	reader.server.Store("two")
	server.Disconnect()
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(new(int64))); adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("another server is read: %v", err)
	}
}

// A copy of the server that is still there has the same database.
func TestAReaderOfAnotherServerIsRefused(t *testing.T) {
	t.Parallel()
	writer, reader := newStarted(t), newStarted(t)
	server, _ := watched(t, writer, reader)
	reader.start.Store(5)
	err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(new(int64)))
	want := fmt.Sprintf("the reader's address %s leads to another server than the other one, %s", reader.Listener.Addr(), writer.Listener.Addr())
	if adlens.KindOf(err) != adlens.EngineUnavailable || !strings.Contains(err.Error(), want) {
		t.Errorf("it is refused with %v, expected %s", err, want)
	}
	reader.start.Store(1)
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(new(int64))); err != nil {
		t.Errorf("two addresses of one server: %v", err)
	}
}

// The driver's context ends with the first of several hosts that does not answer.
func TestEachHostHasThePatienceToItself(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for protocol, want := range map[clickhouse.Protocol]uint64{clickhouse.Native: 1, clickhouse.HTTP: 0} {
		var dials atomic.Uint64
		options := &clickhouse.Options{Protocol: protocol, DialTimeout: DialPatience}
		countDials(options, &dials, machinePatience)
		c, err := options.DialContext(ended, started.Listener.Addr().String())
		if err == nil {
			c.Close()
		}
		if dials.Load() != want || err == nil != (want == 1) {
			t.Errorf("protocol %v: %d connections came about: %v", protocol, dials.Load(), err)
		}
	}
}

// It may be the disk of one that is full.
func TestAnErrorOfAReplicaNamesThatAlone(t *testing.T) {
	t.Parallel()
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "243")
		http.Error(w, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB. (NOT_ENOUGH_SPACE)", http.StatusInternalServerError)
	}))
	t.Cleanup(full.Close)
	server := shard(t, full.Listener.Addr(), full.Listener.Addr())
	host := full.Listener.Addr().String()
	var replica *ReplicaError
	if err := server.Exec(t.Context(), "INSERT INTO facts SELECT 1", nil); !errors.As(err, &replica) || replica.Address != host {
		t.Errorf("expected an error of %s: %v", host, err)
	}
}

// Servers of a shard that are all empty have no database to be identified by.
func TestAReplicaWithoutItsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "81")
		http.Error(w, "Code: 81. DB::Exception: Database adlens does not exist. (UNKNOWN_DATABASE)", http.StatusNotFound)
	}))
	t.Cleanup(empty.Close)
	server := checkedShard(t, Checks{Guard: &watcher{}, Verify: func(context.Context, *Session) error { return Refusal("it is empty") }}, empty.Listener.Addr(), empty.Listener.Addr())
	if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(new(int64))); !IsRefusal(err) {
		t.Errorf("it is not refused: %v", err)
	}
}

// Statements that have all places to read may wait for the server to be prepared: who does
// that waits for none of them.
func TestAServerIsPreparedWhileAllPlacesAreTaken(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server, _ := watched(t, started, started)
	server.checks.Prepare = func(ctx context.Context) error {
		var got int64
		return server.Read(ctx, "SELECT number", nil, ScanInto(&got))
	}
	for range mostReads {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		leave, err := server.gate.acquirePlace(ctx, "")
		cancel()
		if err != nil {
			break // there are no more
		}
		defer leave()
	}
	if err := server.MakeReady(t.Context()); err != nil {
		t.Error(err)
	}
}

// While a server is prepared again, only who does that uses the session that there is.
func TestAServerThatIsOutdatedIsPreparedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server, heard := watched(t, started, started)
	prepared := 0
	read := func(ctx context.Context) error {
		var got int64
		return server.ReadOnce(ctx, "SELECT number", nil, ScanInto(&got))
	}
	server.checks.Prepare = func(ctx context.Context) error {
		prepared++
		return read(ctx)
	}
	outdated := false
	server.checks.Verify = func(context.Context, *Session) error {
		if outdated {
			return ErrOutdated
		}
		return nil
	}
	expect := func(what string, want, inspected int) {
		t.Helper()
		if err := read(t.Context()); err != nil || prepared != want || heard.inspected != inspected || server.outdated.Load() {
			t.Errorf("%s: prepared %d times, inspected %d times, outdated %t: %v", what, prepared, heard.inspected, server.outdated.Load(), err)
		}
	}
	if err := server.MakeReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("at first", 1, 1)
	outdated = true
	server.Disconnect()
	expect("outdated", 2, 2)
	server.prepared.Store(false)
	server.outdated.Store(true) // as another one found out
	expect("being prepared", 3, 3)
}

// A replica whose disk is older is left for a command to prepare, as long as another one is
// there; where all are, none can be read before.
func TestAReplicaThatIsOutdatedIsPassedUnlessAllAre(t *testing.T) {
	t.Parallel()
	one, other := newStarted(t), newStarted(t)
	const old, current = 1, 2
	prepared := 0
	server := checkedShard(t, Checks{Guard: &watcher{},
		Verify: func(ctx context.Context, c *Session) error {
			var number int64
			if err := c.Read(ctx, "SELECT number", nil, ScanInto(&number)); err != nil || number == current {
				return err
			}
			return ErrOutdated
		},
		Prepare: func(context.Context) error {
			prepared++
			one.number.Store(current)
			other.number.Store(current)
			return nil
		}}, one.Listener.Addr(), other.Listener.Addr())
	server.prepared.Store(true)
	for range 3 {
		for _, step := range []struct {
			one, other int64
			prepared   int
		}{{old, current, 0}, {current, old, 0}, {old, old, 1}} {
			one.number.Store(step.one)
			other.number.Store(step.other)
			server.Disconnect()
			prepared = 0
			var got int64
			if err := server.ReadOnce(t.Context(), "SELECT number", nil, ScanInto(&got)); err != nil || got != current || prepared != step.prepared || server.outdated.Load() {
				t.Errorf("%+v: it reads %d, and was prepared %d times: %v", step, got, prepared, err)
			}
		}
	}
}

// A replica that refuses the tables of this version is not used by the command that prepared the
// others, nor after it.
func TestAReplicaThatStaysOutdatedIsPassedWhileItsServerIsPrepared(t *testing.T) {
	t.Parallel()
	const old, current = 1, 2
	for _, c := range []struct{ one, other, want int64 }{{old, current, current}, {current, old, current}, {old, old, old}} {
		one, other := newStarted(t), newStarted(t)
		one.number.Store(c.one)
		other.number.Store(c.other)
		var server *Server
		var got int64
		read := func(ctx context.Context) error { return server.ReadOnce(ctx, "SELECT number", nil, ScanInto(&got)) }
		server = checkedShard(t, Checks{Guard: &watcher{}, Prepare: read, Verify: func(ctx context.Context, c *Session) error {
			var number int64
			if err := c.Read(ctx, "SELECT number", nil, ScanInto(&number)); err != nil || number == current {
				return err
			}
			return ErrOutdated
		}}, one.Listener.Addr(), other.Listener.Addr())
		if err := server.MakeReady(t.Context()); err != nil || got != c.want {
			t.Errorf("%+v: it is prepared at a replica of %d: %v", c, got, err)
		}
		if err := read(t.Context()); err != nil || got != c.want {
			t.Errorf("%+v: it reads %d: %v", c, got, err)
		}
	}
}
