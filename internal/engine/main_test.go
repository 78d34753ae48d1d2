package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// roleVariable makes a child of the test binary do something in a process of
// its own: "use DIR" or "lock DIR ACCOUNT".
const roleVariable = "ADLENS_TEST_ROLE"

func TestMain(m *testing.M) {
	RunIfAsked("test")
	if role := strings.Fields(os.Getenv(roleVariable)); len(role) > 0 {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// play does what a child was started for, says so in a line on standard
// output, and goes on until its standard input ends.
func play(role []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var leave func() error
	switch role[0] {
	case "use":
		e, err := Open(ctx, role[1])
		if err != nil {
			fmt.Println("error:", err)
			return 1
		}
		at, err := e.Endpoint(ctx)
		fmt.Println(at.PID, err)
		leave = e.Close
	case "lock":
		release, err := Locks{role[1]}.Lock(ctx, role[2], func(holder string) { fmt.Println("waiting for", holder) })
		fmt.Println("locked", err)
		leave = release
	}
	io.Copy(io.Discard, os.Stdin)
	if err := leave(); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// child is another process of this binary in a role.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

func startChild(t *testing.T, role ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return c
}

func (c *child) says(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (c *child) leave(t *testing.T) {
	t.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// kill ends the child without a chance to leave anything in order.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// dataDir is a fresh data directory whose library is noted as checked, so
// that not every test hashes half a gigabyte.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	library, err := findLibrary()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(library)
	if err != nil {
		t.Fatal(err)
	}
	h := homeOf(dir)
	if err := h.createFolder(); err != nil {
		t.Fatal(err)
	}
	note := fmt.Sprintf("%s %d %d %s\n", library, info.Size(), info.ModTime().UnixNano(), LibrarySHA256)
	if err := os.WriteFile(h.filePath("library.checked"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endsWithin(t, h, 15*time.Second) })
	return dir
}

func open(t *testing.T, dir string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func endpoint(t *testing.T, e *Engine) Endpoint {
	t.Helper()
	at, err := e.Endpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func closed(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func alive(pid int) bool { return unix.Kill(pid, 0) == nil }

// freeze stops a process, and waits until all of its threads have: some may answer for a
// moment after the signal.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	threads := fmt.Sprintf("/proc/%d/task/*/stat", pid)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		running := 0
		paths, err := filepath.Glob(threads)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if _, state, _ := strings.Cut(string(text), ") "); err == nil && !strings.HasPrefix(state, "T") {
				running++
			}
		}
		if err != nil || len(paths) > 0 && running == 0 {
			return
		}
	}
	t.Fatalf("process %d does not stop", pid)
}

// gone waits until a process is no more.
func gone(pid int, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if !alive(pid) || zombie(pid) {
			return true
		}
	}
	return false
}

// zombie reports whether a process has ended and only waits for its parent: the
// orphans of a killed child are not waited for here.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(state, "Z")
}

// endsWithin makes sure that a test leaves no engine behind.
func endsWithin(t *testing.T, h home, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if running, err := isHeld(h.engineLock()); err != nil || !running {
			return
		}
	}
	t.Errorf("the engine of %s is left behind", h)
}
