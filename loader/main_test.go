package loader_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/engine"
	"adlens/loader"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked("test")
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database is the one engine of this package's tests, each of which has an
// account of its own in it.
type database struct {
	dir    string
	engine *engine.Engine
	db     *clickhouse.Database
	at     engine.Endpoint
	err    error
}

var (
	shared     database
	sharedOnce sync.Once
)

func openShared(t testing.TB) *database {
	t.Helper()
	sharedOnce.Do(func() { shared.err = shared.open() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return &shared
}

// openOwn opens a database of the test's own, which it may spoil.
func openOwn(t *testing.T) *database {
	t.Helper()
	d := &database{}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(d.dir); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *database) open() (err error) {
	if d.dir, err = os.MkdirTemp("", "adlens-loader-test-"); err != nil {
		return err
	}
	return d.reopen()
}

func (d *database) reopen() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if d.engine, err = engine.Open(ctx, d.dir); err != nil {
		return err
	}
	if d.db, err = clickhouse.Open(ctx, conn.Embedded{Engine: d.engine}); err != nil {
		return err
	}
	d.at, err = d.engine.Endpoint(ctx)
	return err
}

// closeShared ends the engine, and makes sure that nothing of it is left.
func closeShared() error {
	if shared.dir != "" {
		defer os.RemoveAll(shared.dir)
	}
	if shared.db == nil {
		return nil
	}
	return shared.close()
}

// close ends the engine, and makes sure that its process is gone.
func (d *database) close() error {
	if err := d.db.Close(); err != nil {
		return err
	}
	if err := d.engine.Close(); err != nil {
		return err
	}
	for range 200 {
		if unix.Kill(d.at.PID, 0) == unix.ESRCH {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the engine process %d is left behind", d.at.PID)
}

func (d *database) store() loader.Store {
	return d.db.LoadStore(engine.Locks{DataDir: d.dir})
}

// query runs plain SQL past the store's own code, and returns the cells of
// its rows.
func (d *database) query(t testing.TB, account, sql string) [][]string {
	t.Helper()
	if strings.Contains(sql, live) {
		return d.stateOf(t, account).query(t, sql)
	}
	return d.run(t, engine.ReaderUser, d.at.ReaderPassword, account, sql)
}

// state is an account between two loads, whose live generations were found once for all
// that is asked of it.
type state struct {
	*database
	account, generations string
}

func (d *database) stateOf(t testing.TB, account string) state {
	t.Helper()
	var numbers []string
	for _, cells := range d.query(t, account, liveGenerations) {
		numbers = append(numbers, cells[0])
	}
	return state{d, account, "(" + strings.Join(numbers, ", ") + ")"}
}

func (s state) query(t testing.TB, sql string) [][]string {
	t.Helper()
	return s.database.query(t, s.account, strings.ReplaceAll(sql, live, s.generations))
}

// settle waits until the tables have deleted what they were told to: a
// deletion that is waited for ends after all before it.
func (d *database) settle(t testing.TB) {
	t.Helper()
	for _, table := range append([]string{"dead_generations"}, generationTables...) {
		d.run(t, engine.LoaderUser, d.at.LoaderPassword, "", "ALTER TABLE "+table+" DELETE WHERE 0 SETTINGS mutations_sync = 2")
	}
}

func (d *database) run(t testing.TB, user, password, account, sql string) [][]string {
	t.Helper()
	values := url.Values{"database": {engine.Database}, "param_account": {account}}
	req, err := http.NewRequest(http.MethodPost, "http://"+d.at.Address+"/?"+values.Encode(), strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(user, password)
	req.Header.Set(engine.GateHeader, d.at.Gate)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s\n%s %v", sql, body, err)
	}
	var rows [][]string
	for line := range strings.Lines(string(body)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// silent hears nothing.
type silent struct{}

func (silent) Step(string, int, int) {}
func (silent) Rows(int)              {}
func (silent) Notice(string)         {}

func load(t testing.TB, store loader.Store, account string, paths ...string) loader.Result {
	t.Helper()
	l := loader.Loader{Store: store, Progress: silent{}}
	result, err := l.Load(t.Context(), account, paths)
	if err != nil {
		t.Fatalf("loading %v: %v", paths, err)
	}
	return result
}

// mustLoad loads files of which none may be refused.
func mustLoad(t testing.TB, store loader.Store, account string, paths ...string) {
	t.Helper()
	for _, f := range load(t, store, account, paths...).Files {
		if f.Status == loader.Refused || f.Status == loader.Failed {
			t.Fatalf("%s: %s: %s", f.File, f.Status, *f.Error)
		}
	}
}
