package integration_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/docs"
	"adlens/integration/harness"
)

// house is a program with a server that the tests of this package share: an
// engine for each test would take most of the time.
type house struct {
	*harness.Program
	server *harness.Server
}

var shared = struct {
	sync.Once
	house
	dir string
	err error
}{}

func TestMain(m *testing.M) {
	contract, err := harness.ReadContract(docs.OpenAPI())
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs/openapi.yaml:", err)
		os.Exit(1)
	}
	harness.HoldAnswersTo(contract)
	if flag.Parse(); !given("test.parallel") {
		// Tests wait for engines to start and to end, most of their time.
		flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if err := errors.Join(closeLive(), closeShared()); err != nil {
		fmt.Fprintln(os.Stderr, "after the tests:", err)
		code = 1
	}
	os.Exit(code)
}

// given reports whether a flag is set on the command line.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func closeShared() error {
	var stopped error
	if shared.server != nil {
		stopped = shared.server.Stop()
	}
	var removed error
	if shared.dir != "" {
		removed = os.RemoveAll(shared.dir)
	}
	return errors.Join(stopped, removed, harness.Cleanup())
}

// sharedHouse gives the shared program; accounts keep the tests apart.
func sharedHouse(t *testing.T) *house {
	t.Helper()
	shared.Do(func() { shared.err = openShared() })
	have(t, shared.err)
	return &shared.house
}

func openShared() (err error) {
	if shared.dir, err = os.MkdirTemp("", "adlens-shared-"); err != nil {
		return err
	}
	if shared.Program, err = harness.New(shared.dir); err != nil {
		return err
	}
	server, err := shared.Program.Serve()
	if err == nil {
		shared.server = server
	}
	return err
}

// ownProgram gives a program with a data directory of the test's own.
func ownProgram(t *testing.T) *harness.Program {
	t.Helper()
	p, err := harness.New(t.TempDir())
	have(t, err)
	return p
}

// emptyProgram is ownProgram with a data directory in which nothing was made yet.
func emptyProgram(t *testing.T) *harness.Program {
	t.Helper()
	if harness.Contained() {
		return ownProgram(t)
	}
	p, err := harness.NewAt(t.TempDir())
	need(t, err)
	return p
}

// ownHouse is a program of its own with a running server, for tests that damage
// what is stored: the shared server would not be ready any more.
func ownHouse(t *testing.T) *house {
	t.Helper()
	h := &house{Program: ownProgram(t)}
	var err error
	h.server, err = h.Serve()
	need(t, err)
	t.Cleanup(func() { need(t, h.server.Stop()) })
	return h
}

// aloneProgram is ownProgram for tests that kill the engine, or the server that
// stands for it.
func aloneProgram(t *testing.T) *harness.Program {
	t.Helper()
	p, err := harness.NewAlone(t.TempDir())
	have(t, err)
	t.Cleanup(func() { need(t, p.Close()) })
	return p
}

// needEngine skips tests that kill the embedded engine, or look at its memory
// and files, where data are elsewhere.
func needEngine(t *testing.T) {
	t.Helper()
	if harness.Contained() {
		t.Skip("it is about the embedded engine")
	}
}

// have ends the test on an error, or skips it where what it needs is a
// container and this machine has none.
func have(t *testing.T, err error) {
	t.Helper()
	if harness.NoContainer(err) {
		t.Skip(err)
	}
	need(t, err)
}

// serve starts a server and stops it, with exit code 0, when the test ends.
func serve(t *testing.T, p *harness.Program) *harness.Server {
	t.Helper()
	server, err := p.Serve()
	need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// need ends the test on an error.
func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// account makes an account of the shared house with a client of its own.
func (h *house) account(t *testing.T, id string) harness.Client {
	t.Helper()
	key, err := h.Account(id)
	need(t, err)
	return harness.Client{Address: h.server.Address, Key: key}
}

// scaled multiplies a number of rounds by ADLENS_TEST_SCALE.
func scaled(n int) int {
	scale, err := strconv.ParseFloat(os.Getenv("ADLENS_TEST_SCALE"), 64)
	if err != nil || scale <= 0 {
		return n
	}
	return max(1, int(float64(n)*scale))
}

// seed is the clock's, unless ADLENS_TEST_SEED repeats an earlier run.
func seed(t *testing.T) uint64 {
	t.Helper()
	value := uint64(time.Now().UnixNano() % 1_000_000_000)
	if text := os.Getenv("ADLENS_TEST_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		need(t, err)
		value = given
	}
	t.Logf("seed %d: repeat with ADLENS_TEST_SEED", value)
	return value
}

// name makes a test's name fit for an account id.
func name(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-", " ", "-").Replace(t.Name()))
}
