package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/engine"
	"adlens/internal/manifest"

	"golang.org/x/sys/unix"
)

// roleVariable makes a child of the test binary bring the schema of a data
// directory up to date, in a process of its own.
const roleVariable = "ADLENS_TEST_MIGRATE"

func TestMain(m *testing.M) {
	engine.RunIfAsked("test")
	if dir := os.Getenv(roleVariable); dir != "" {
		os.Exit(migrateOnce(dir))
	}
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func migrateOnce(dir string) int {
	d, err := openDatabase(dir)
	if err == nil {
		err = d.close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// database is a Database with its engine.
type database struct {
	*Database
	engine *engine.Engine
}

func openDatabase(dir string) (*database, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := engine.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	db, err := Open(ctx, conn.Embedded{Engine: e})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &database{db, e}, nil
}

func (d *database) close() error { return errors.Join(d.Close(), d.engine.Close()) }

// The one engine of this package's tests; each has an account of its own.
var (
	shared     *database
	sharedDir  string
	sharedErr  error
	sharedOnce sync.Once
)

func openShared(t testing.TB) *database {
	t.Helper()
	sharedOnce.Do(func() {
		if sharedDir, sharedErr = os.MkdirTemp("", "adlens-clickhouse-test-"); sharedErr == nil {
			shared, sharedErr = openDatabase(sharedDir)
		}
	})
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// closeShared ends the engine, and makes sure that nothing of it is left.
func closeShared() error {
	defer os.RemoveAll(sharedDir)
	if shared == nil {
		return nil
	}
	at, err := shared.engine.Endpoint(context.Background())
	if err != nil {
		return err
	}
	if err := shared.close(); err != nil {
		return err
	}
	for range 100 {
		if unix.Kill(at.PID, 0) == unix.ESRCH {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the engine process %d is left behind", at.PID)
}

// one reads one value.
func one[T any](t *testing.T, db *Database, sql string, params conn.Params) T {
	t.Helper()
	all, err := conn.Collect(t.Context(), db.Cluster, sql, params, func(scan conn.Scan) (T, error) {
		var value T
		err := scan(&value)
		return value, err
	})
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %v, %v", sql, all, err)
	}
	return all[0]
}

// beginWriter begins a session as a load does.
func beginWriter(t testing.TB, db *Database, account string) *commits.Session {
	t.Helper()
	s, err := commits.Begin(t.Context(), db.Tables, account, rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// beginCommit takes the number of a commit.
func beginCommit(t testing.TB, s *commits.Session) uint32 {
	t.Helper()
	number, err := s.BeginCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// commitUnits makes entries live as a load does that is the account's only
// writer, and returns the number of its commit.
func commitUnits(t testing.TB, db *Database, account string, entries ...manifest.Entry) uint32 {
	t.Helper()
	s := beginWriter(t, db, account)
	number := beginCommit(t, s)
	if err := s.Commit(t.Context(), number, entries); err != nil {
		t.Fatal(err)
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	return number
}
