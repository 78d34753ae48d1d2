package house

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/docs"
	"adlens/integration/harness"
)

// House is a program with a server that the tests of a package share: an
// engine for each test would take most of the time.
type House struct {
	*harness.Program
	Server *harness.Server
}

// kept is a program with a server that the tests of a package share, made for the
// first that asks.
type kept struct {
	sync.Once
	House
	dir string
	err error
}

// shared has the accounts that tests add, and demo the demonstration account.
var shared, demo kept

// Main runs the tests of a package, closes what they shared and exits.
func Main(m *testing.M, closers ...func() error) {
	contract, err := harness.ReadContract(docs.OpenAPI())
	if err != nil {
		fmt.Fprintln(os.Stderr, "the API's document:", err)
		os.Exit(1)
	}
	harness.HoldAnswersTo(contract)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the oracle makes much that is small, and dropped at once
	}
	if flag.Parse(); !given("test.parallel") {
		// Tests wait for engines to start and to end, most of their time. The go
		// command runs as many packages side by side as there are processors, so
		// that each takes less than a package alone could.
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	for _, closeOne := range append(closers, closeShared) {
		if err := closeOne(); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// given reports whether a flag is set on the command line.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func closeShared() error { return errors.Join(shared.end(), demo.end(), harness.Cleanup()) }

// Shared gives the shared program; accounts keep the tests apart.
func Shared(t *testing.T) *House {
	t.Helper()
	return shared.begin(t, func(p *harness.Program) (*harness.Server, error) { return p.Serve() })
}

// Demo gives the demonstration account with a server, for tests that only read it, and
// a client of its API.
func Demo(t *testing.T) (*House, harness.Client) {
	t.Helper()
	h := demo.begin(t, (*harness.Program).Demo)
	key, err := h.Key(harness.DemoAccount)
	Need(t, err)
	return h, harness.Client{Address: h.Server.Address, Key: key}
}

func (k *kept) begin(t *testing.T, serve func(*harness.Program) (*harness.Server, error)) *House {
	t.Helper()
	k.Do(func() {
		if k.dir, k.err = os.MkdirTemp("", "adlens-shared-"); k.err != nil {
			return
		}
		if k.Program, k.err = harness.New(k.dir); k.err != nil {
			return
		}
		server, err := serve(k.Program)
		if k.err = err; err == nil {
			k.Server = server
		}
	})
	Have(t, k.err)
	return &k.House
}

func (k *kept) end() error {
	var stopped, removed error
	if k.Server != nil {
		stopped = k.Server.Stop()
	}
	if k.dir != "" {
		removed = os.RemoveAll(k.dir)
	}
	return errors.Join(stopped, removed)
}

// OwnProgram gives a program with a data directory of the test's own, whose
// engine lives until the test ends.
func OwnProgram(t *testing.T) *harness.Program {
	t.Helper()
	p, err := harness.New(t.TempDir())
	Have(t, err)
	return Keep(t, p)
}

// Keep has a program's engine live from its next command to the test's end.
func Keep(t *testing.T, p *harness.Program) *harness.Program {
	t.Helper()
	p.KeepEngine()
	t.Cleanup(func() { Need(t, p.StopEngine()) })
	return p
}

// CopyOf gives a program on a copy of another one's data directory, of which no
// server runs.
func CopyOf(t *testing.T, of *harness.Program) *harness.Program {
	t.Helper()
	p, err := of.CopyTo(t.TempDir())
	Need(t, err)
	return Keep(t, p)
}

// EmptyProgram is OwnProgram with a data directory in which nothing was made yet.
func EmptyProgram(t *testing.T) *harness.Program {
	t.Helper()
	if harness.Contained() {
		return OwnProgram(t)
	}
	p, err := harness.NewAt(t.TempDir())
	Need(t, err)
	return Keep(t, p)
}

// Own is a program of its own with a running server, for tests that damage
// what is stored: the shared server would not be ready any more.
func Own(t *testing.T) *House {
	t.Helper()
	h := &House{Program: OwnProgram(t)}
	var err error
	h.Server, err = h.Serve()
	Need(t, err)
	t.Cleanup(func() { Need(t, h.Server.Stop()) })
	return h
}

// AloneProgram is OwnProgram for tests that kill the engine, or the server that
// stands for it.
func AloneProgram(t *testing.T) *harness.Program {
	t.Helper()
	p, err := harness.NewAlone(t.TempDir())
	Have(t, err)
	t.Cleanup(func() { Need(t, p.Close()) })
	return p
}

// NeedEngine skips tests that kill the embedded engine, or look at its memory
// and files, where data are elsewhere.
func NeedEngine(t *testing.T) {
	t.Helper()
	if harness.Contained() {
		t.Skip("it is about the embedded engine")
	}
}

// Have ends the test on an error, or skips it where what it needs is a
// container and this machine has none.
func Have(t *testing.T, err error) {
	t.Helper()
	if harness.NoContainer(err) {
		t.Skip(err)
	}
	Need(t, err)
}

// Serve starts a server and stops it, with exit code 0, when the test ends.
func Serve(t *testing.T, p *harness.Program) *harness.Server {
	t.Helper()
	server, err := p.Serve()
	Need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Need ends the test on an error.
func Need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Client makes an account of the shared house with a client of its own.
func (h *House) Client(t *testing.T, id string) harness.Client {
	t.Helper()
	key, err := h.Account(id)
	Need(t, err)
	return harness.Client{Address: h.Server.Address, Key: key}
}

// Scaled multiplies a number of rounds by ADLENS_TEST_SCALE.
func Scaled(n int) int {
	scale, err := strconv.ParseFloat(os.Getenv("ADLENS_TEST_SCALE"), 64)
	if err != nil || scale <= 0 {
		return n
	}
	return max(1, int(float64(n)*scale))
}

// Seed is the clock's, unless ADLENS_TEST_SEED repeats an earlier run.
func Seed(t *testing.T) uint64 {
	t.Helper()
	value := uint64(time.Now().UnixNano() % 1_000_000_000)
	if text := os.Getenv("ADLENS_TEST_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		Need(t, err)
		value = given
	}
	t.Logf("seed %d: repeat with ADLENS_TEST_SEED", value)
	return value
}

// AccountID makes a test's name fit for an account id.
func AccountID(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-", " ", "-").Replace(t.Name()))
}

// Mounted gives a directory on a file system of its own in memory, of 256 MiB. The
// test is skipped where this user may not mount.
func Mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256m"); err != nil {
		t.Skipf("tmpfs cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Eventually waits until something holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await(t, harness.Patience, what, holds)
}

// Promptly is Eventually for a change that every server has to see within the ten
// seconds that the contract gives it.
func Promptly(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await(t, 10*time.Second, what, holds)
}

func await(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	until := time.Now().Add(within)
	for !holds() {
		if time.Now().After(until) {
			t.Fatalf("not within %v: %s", within, what)
		}
		<-time.After(200 * time.Millisecond)
	}
}
