package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startProcess starts a process that does nothing, with more words in its command line,
// which it has when it has written a line.
func startProcess(t *testing.T, attributes *unix.SysProcAttr, words ...string) (pid int, err error) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", "echo ready; read line"}, words...)...)
	cmd.SysProcAttr = attributes
	_, feeding := cmd.StdinPipe()
	out, reading := cmd.StdoutPipe()
	if err := errors.Join(feeding, reading); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	_, err = out.Read(make([]byte, 8))
	return cmd.Process.Pid, err
}

// leaveEngine makes a directory look as if an engine ran in it: its lock is held, and
// nothing listens at its address.
func leaveEngine(t *testing.T, pid int) *Engine {
	t.Helper()
	e, _ := leaveLocked(t, pid)
	return e
}

// leaveLocked is leaveEngine with the lock of the engine, which its end gives back.
func leaveLocked(t *testing.T, pid int) (e *Engine, lock *os.File) {
	t.Helper()
	h := homeOf(t.TempDir())
	address, reserved, reserving := reserveAddress()
	if err := errors.Join(reserving, h.createFolder()); err != nil {
		t.Fatal(err)
	}
	lock, locking := tryLock(h.engineLock(), unix.LOCK_EX)
	if err := errors.Join(locking, h.writeEndpoint(Endpoint{PID: pid, Address: address, Gate: "gate"})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close(); unix.Close(reserved) })
	return &Engine{home: h}, lock
}

// With a data directory that machines or containers share, the number of the engine's
// process is that of another one here.
func TestAProcessThatIsNotTheEngineIsLeftAlone(t *testing.T) {
	t.Parallel()
	pid, err := startProcess(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := leaveEngine(t, pid)
	longAgo := time.Now().Add(-loadPatience)
	if err := os.Chtimes(e.home.endpointFile(), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Endpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "runs where this process cannot reach it") {
		t.Errorf("an engine elsewhere: %v", err)
	}
	if err := e.killFrozen(t.Context(), Endpoint{Gate: "gate"}); err == nil || !alive(pid) || zombie(pid) {
		t.Errorf("process %d, which is no engine, was killed: %v", pid, err)
	}
}

// The watch of another process kills a frozen engine about when a command loses patience
// with it. Such an engine has no command line any more, and keeps its lock for a moment.
func TestAnEngineThatIsKilledWhileItIsWaitedForIsNotElsewhere(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ask  func(e *Engine) error
		want error
	}{
		"awaitAnswer": {func(e *Engine) error {
			_, err := e.awaitAnswer(t.Context(), nil, time.Now().Add(-silencePatience))
			return err
		}, errGone},
		"killFrozen": {func(e *Engine) error { return e.killFrozen(t.Context(), Endpoint{Gate: "gate"}) }, nil},
	} {
		e, lock := leaveLocked(t, ended.Process.Pid)
		time.AfterFunc(300*time.Millisecond, func() { lock.Close() })
		if err := c.ask(e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
}

func TestOnlyTheEngineOfThisDirectoryAndNetworkIsInReach(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	h := homeOf(dir)
	linked := other + "/link"
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words string
		want  bool
	}{
		{Command + " " + dir, true}, {Command + " " + linked, true}, {Command + " " + other, false}, {"serve " + dir, false}, {Command, false},
	} {
		pid, err := startProcess(t, nil, strings.Fields(c.words)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.checkReach(t.Context(), pid); (err == nil) != c.want {
			t.Errorf("%q: %v", c.words, err)
		}
	}
	elsewhere := &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET}
	pid, err := startProcess(t, elsewhere, Command, dir)
	if err != nil {
		t.Skipf("no other network can be made here: %v", err)
	}
	if err := h.checkReach(t.Context(), pid); err == nil {
		t.Error("an engine in another network is taken for one that can be asked")
	}
}

// An engine listens when it has loaded its parts. One that is killed before then begins
// again, and is killed again.
func TestAnEngineThatStillLoadsIsLeftItsTime(t *testing.T) {
	t.Parallel()
	e := leaveEngine(t, os.Getpid())
	at, err := e.home.readEndpoint()
	if err != nil {
		t.Fatal(err)
	}
	_, refused := at.askSoon(t.Context())
	silent := fmt.Errorf("the engine is silent: %w", os.ErrDeadlineExceeded)
	now := time.Now()
	for _, c := range []struct {
		age  time.Duration
		how  error
		want bool
	}{
		{startPatience / 2, silent, true}, {2 * startPatience, silent, false},
		{2 * startPatience, refused, true}, {loadPatience + startPatience, refused, false},
	} {
		began := now.Add(-c.age)
		if err := os.Chtimes(e.home.endpointFile(), began, began); err != nil {
			t.Fatal(err)
		}
		if got := e.home.isStarting(c.how); got != c.want {
			t.Errorf("%s after its start (%v), a user takes it for starting: %v", c.age, c.how, got)
		}
		w := &watch{engine: e, coming: at.Gate, since: began}
		if got := w.isStarting(at, now, c.how); got != c.want {
			t.Errorf("%s after it came (%v), the watch takes it for starting: %v", c.age, c.how, got)
		}
		if w := (&watch{engine: e, met: at.Gate, coming: at.Gate, since: began}); w.isStarting(at, now, c.how) {
			t.Error("one that answered once is taken for starting")
		}
	}
}

// Who started the engine waits as long for it: without a user it would end.
func TestAStartWaitsWhileTheEngineLoads(t *testing.T) {
	t.Parallel()
	e := leaveEngine(t, os.Getpid())
	for _, c := range []struct {
		took  time.Duration
		waits bool
	}{{2 * startPatience, true}, {loadPatience, false}} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := e.awaitAnswer(ctx, make(chan string), time.Now().Add(-c.took))
		if waited := ctx.Err() != nil; err == nil || waited != c.waits {
			t.Errorf("%s after its start an engine that refuses is waited for: %v, %v", c.took, waited, err)
		}
		cancel()
	}
}

// One that has just loaded its parts may be slow to answer first.
func TestAStartWaitsForTheFirstAnswerAfterLoading(t *testing.T) {
	t.Parallel()
	e := leaveEngine(t, os.Getpid())
	at, err := e.home.readEndpoint()
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := e.awaitAnswer(t.Context(), make(chan string), time.Now().Add(-2*startPatience))
		answered <- err
	}()
	time.Sleep(100 * time.Millisecond) // it is refused now
	lines, err := (&net.ListenConfig{Control: reusePort}).Listen(t.Context(), "tcp", at.Address)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	go server.Serve(lines)
	defer server.Close()
	if err := <-answered; err != nil || asked.Load() < 3 {
		t.Errorf("after %d questions: %v", asked.Load(), err)
	}
}

func reusePort(_, _ string, c syscall.RawConn) (err error) {
	if controlling := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }); controlling != nil {
		return controlling
	}
	return err
}
