package commands_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"

	"github.com/creack/pty"
)

// terminal is a command at a terminal of some width, and all that was shown.
type terminal struct {
	*exec.Cmd
	keyboard *os.File
	mu       sync.Mutex
	text     bytes.Buffer
	closed   chan struct{}
}

func atTerminal(t *testing.T, p *harness.Program, width uint16, environment []string, args ...string) *terminal {
	t.Helper()
	s := &terminal{Cmd: p.Command(t.Context(), args...), closed: make(chan struct{})}
	s.Env = append(append(s.Env, "TERM=xterm"), environment...)
	screen, err := pty.StartWithSize(s.Cmd, &pty.Winsize{Rows: 24, Cols: width})
	house.Need(t, err)
	s.keyboard = screen
	go func() {
		defer close(s.closed)
		_, _ = io.Copy(s, screen) // it ends with an error when the program does
	}()
	t.Cleanup(func() { screen.Close() })
	return s
}

func (s *terminal) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *terminal) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// ends waits for the end and returns the exit code.
func (s *terminal) ends(t *testing.T) int {
	t.Helper()
	_ = s.Wait() // the exit code says more
	<-s.closed
	return s.ProcessState.ExitCode()
}

// onScreen is what stands there in the end, line by line: what was written
// over is gone.
func onScreen(shown string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(shown, "\r\n", "\n"), "\n") {
		if i := strings.LastIndex(line, "\r\x1b[K"); i >= 0 {
			line = line[i+len("\r\x1b[K"):]
		}
		lines = append(lines, line)
	}
	return lines
}

const narrow = 30

// wantProgress demands progress of some work in lines that fit, none of which
// is left.
func wantProgress(t *testing.T, s *terminal, work string) {
	t.Helper()
	shown := strings.ReplaceAll(s.shown(), "^C", "") // which the terminal itself shows of a key
	if !strings.Contains(shown, "\r\x1b[K"+work) {
		t.Errorf("no progress of %s: %q", work, shown)
	}
	for drawn := range strings.SplitSeq(shown, "\r\x1b[K") {
		if line, _, _ := strings.Cut(drawn, "\r"); strings.HasPrefix(line, work) && len(line) >= narrow {
			t.Errorf("%q does not fit", line)
		}
	}
	for _, line := range onScreen(shown) {
		if strings.Contains(line, work) {
			t.Errorf("%q is left", line)
		}
	}
}

func TestProgressAtATerminal(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	all, err := extracts.Write(t.TempDir(), extracts.Options{Seed: 7, Accounts: 1, Reports: 60, Now: time.Now(), Days: 300})
	house.Need(t, err)
	_, err = p.Account("acct")
	house.Need(t, err)
	paths := []string{all[0].Base}
	for _, report := range all[0].Reports {
		paths = append(paths, report.Files()...)
	}

	s := atTerminal(t, p, narrow, nil, append([]string{"load", "--account", "acct"}, paths...)...)
	for until := time.Now().Add(harness.Patience); !strings.Contains(s.shown(), "loading: "); <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no progress: %q", s.shown())
		}
	}
	_, err = s.keyboard.WriteString("\x03") // Ctrl-C
	house.Need(t, err)
	if code := s.ends(t); code != 1 {
		t.Errorf("interrupted: exit code %d: %q", code, s.shown())
	}
	wantProgress(t, s, "loading: ")

	s = atTerminal(t, p, narrow, nil, append([]string{"load", "--account", "acct"}, paths...)...)
	if code := s.ends(t); code != 0 {
		t.Errorf("exit code %d: %q", code, s.shown())
	}
	wantProgress(t, s, "loading: ")

	s = atTerminal(t, p, narrow, nil, append([]string{"load", "--json", "--account", "acct"}, paths...)...)
	if code := s.ends(t); code != 0 || strings.ContainsAny(s.shown(), "\x1b") {
		t.Errorf("for machines: exit code %d: %q", code, s.shown())
	}
}

// A signal ends the wait for a secret, and the terminal shows again what is typed.
func TestTheQuestionForASecretCanBeLeft(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	_, err := p.Account("acct")
	house.Need(t, err)
	s := atTerminal(t, p, 100, nil, "connect", "--account", "acct", "--region", "NA", "--client-id", "amzn1.application-oa2-client.x")
	for until := time.Now().Add(harness.Patience); !strings.Contains(s.shown(), "client secret: "); <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no question: %q", s.shown())
		}
	}
	_, err = s.keyboard.WriteString("\x03") // Ctrl-C
	house.Need(t, err)
	if code := s.ends(t); code != 1 || !strings.Contains(s.shown(), "interrupted") {
		t.Errorf("exit code %d: %q", code, s.shown())
	}
}

func TestColoursAreForTerminalsAlone(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.EmptyProgram(t)
	s := atTerminal(t, p, 100, nil, "doctor")
	if code := s.ends(t); code != 1 || !strings.HasPrefix(s.shown(), "\x1b[31mfailed \x1b[0m  data directory") {
		t.Errorf("at a terminal: %d %q", code, s.shown())
	}
	s = atTerminal(t, p, 100, []string{"NO_COLOR=1"}, "doctor")
	if s.ends(t); !strings.HasPrefix(s.shown(), "failed   data directory") || strings.Contains(s.shown(), "\x1b[3") {
		t.Errorf("with NO_COLOR: %q", s.shown())
	}
	if r := p.Run("doctor"); r.Code != 1 || strings.Contains(r.Stdout+r.Stderr, "\x1b") || !strings.HasSuffix(r.Stdout, "0 ok, 0 warnings, 1 failed\n") {
		t.Errorf("elsewhere: %s", r)
	}
}

// At a terminal the log is for people. Elsewhere every line is JSON, with --json also
// the address on standard output.
func TestTheLogIsForItsReader(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	arguments := []string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--json"}
	s := atTerminal(t, p, 200, nil, arguments...)
	house.Eventually(t, "the server says nothing", func() bool { return strings.Contains(s.shown(), `{"address":`) })
	house.Need(t, s.Process.Signal(os.Interrupt))
	if code := s.ends(t); code != 0 || !regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  info  metrics  \{"address": "http://`).MatchString(s.shown()) {
		t.Errorf("at a terminal: exit code %d: %q", code, s.shown())
	}

	command := p.Command(t.Context(), arguments...)
	both := &terminal{}
	command.Stdout, command.Stderr = both, both
	house.Need(t, command.Start())
	house.Eventually(t, "the server says nothing", func() bool { return strings.Contains(both.shown(), `{"address":`) })
	house.Need(t, command.Process.Signal(os.Interrupt))
	house.Need(t, command.Wait())
	for line := range strings.Lines(both.shown()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is no JSON", line)
		}
	}
}
