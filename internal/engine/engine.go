package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// startPatience is how long an engine may take to answer after its start. A
// directory with thousands of parts takes two seconds; a laptop that wakes up
// takes longer.
const startPatience = 60 * time.Second

// loadPatience is how long an engine may refuse connections after its start: it
// listens when its parts are loaded, and is no better off for being killed before.
const loadPatience = 10 * time.Minute

// patienceFor is how long after its start an engine may fail to answer in this way.
func patienceFor(silent error) time.Duration {
	if errors.Is(silent, unix.ECONNREFUSED) {
		return loadPatience
	}
	return startPatience
}

// Engine is one user's hold on the engine of a data directory.
type Engine struct {
	home  home
	users *os.File // shared lock: while it is held, the engine stays
}

// Open joins the users of a data directory's engine and makes sure that it
// runs. The error is a *LibraryError where the library is missing or wrong.
func Open(ctx context.Context, dataDir string) (*Engine, error) {
	// The engine reads its configuration relative to that file's own place.
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	h := homeOf(dataDir)
	if err := h.checkOwner(); err != nil {
		return nil, err
	}
	if err := h.checkWritable(); err != nil {
		return nil, err
	}
	if err := h.createFolder(); err != nil {
		return nil, err
	}
	users, err := waitLock(ctx, h.usersLock(), unix.LOCK_SH)
	if errors.Is(err, os.ErrPermission) { // a file of another user
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("an engine of %s is stopping and does not end: %w", dataDir, err)
	}
	e := &Engine{home: h, users: users}
	if _, err := e.Endpoint(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// DataDir is the data directory.
func (e *Engine) DataDir() string { return filepath.Dir(string(e.home)) }

// Runs reports whether the engine of a data directory runs. It leaves no trace.
func Runs(dataDir string) (bool, error) { return heldNow(homeOf(dataDir).engineLock()) }

// Close leaves the engine. Where this was its last user, Close waits until it
// has stopped, so that nothing is left behind when the caller's process ends.
func (e *Engine) Close() error {
	if err := e.users.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	for seen := 0; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		running, wanted, err := e.stillThere()
		if err != nil || !running {
			return err
		}
		// A process that another user is starting has a copy of its locks until
		// it is another program, for a moment.
		if seen++; !wanted {
			seen = 0
		}
		if seen == wantedLooks {
			return nil
		}
	}
	return fmt.Errorf("the engine of %s did not stop in time", e.home)
}

// wantedLooks is how often in a row other users have to be seen to be believed.
const wantedLooks = 3

// stillThere reports whether the engine runs, and whether another process uses it. It looks
// while this process starts none, which would have copies of its locks.
func (e *Engine) stillThere() (running, wanted bool, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	running, err = isHeld(e.home.engineLock())
	if err != nil || !running {
		return running, false, err
	}
	// The engine takes users.lock alone when it stops. If it can be had
	// alone here, the engine has not looked yet; if it is shared, other
	// users are there.
	f, err := tryLock(e.home.usersLock(), unix.LOCK_EX)
	if err == nil {
		return true, false, f.Close()
	}
	if !errors.Is(err, errLocked) {
		return true, false, err
	}
	f, err = tryLock(e.home.usersLock(), unix.LOCK_SH)
	if err == nil {
		return true, true, f.Close()
	}
	return true, false, nil
}

// Endpoint returns where the engine answers now, and starts it where it does
// not run: after a crash of the engine, the first user that asks mends it.
func (e *Engine) Endpoint(ctx context.Context) (Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, silencePatience+loadPatience)
	defer cancel()
	starting, err := waitLock(ctx, e.home.startLock(), unix.LOCK_EX)
	if err != nil {
		return Endpoint{}, err
	}
	defer starting.Close()
	running, err := isHeld(e.home.engineLock())
	if err != nil {
		return Endpoint{}, err
	}
	if running {
		at, err := e.awaitAnswer(ctx, nil, time.Now())
		switch {
		case errors.Is(err, errFrozen):
			if err := e.killFrozen(ctx, at); err != nil {
				return Endpoint{}, err
			}
		case !errors.Is(err, errGone): // one that was dying when it was looked at
			return at, err
		}
	}
	return e.startEngine(ctx)
}

var (
	errGone   = errors.New("the engine ended while it was waited for")
	errFrozen = errors.New("the engine no longer answers")
)

// killFrozen ends an engine that no longer answers, unless another one has taken its
// place already, or it is out of reach. The next Endpoint starts a new one; what the
// old one had acknowledged is on the disk.
func (e *Engine) killFrozen(ctx context.Context, silent Endpoint) error {
	running, err := isHeld(e.home.engineLock())
	if err != nil || !running {
		return err
	}
	at, err := e.home.readEndpoint()
	if err != nil || at.Gate != silent.Gate {
		return err
	}
	if err := e.home.checkReach(ctx, at.PID); errors.Is(err, errGone) {
		return nil
	} else if err != nil {
		return err
	}
	return unix.Kill(at.PID, unix.SIGKILL)
}

func (e *Engine) startEngine(ctx context.Context) (Endpoint, error) {
	if err := e.home.checkStored(); err != nil {
		return Endpoint{}, err
	}
	library, err := findLibrary()
	if err != nil {
		return Endpoint{}, err
	}
	if err := checkLibrary(library, e.home.filePath("library.checked")); err != nil {
		return Endpoint{}, err
	}
	if err := checkOpenFiles(); err != nil {
		return Endpoint{}, err
	}
	began := time.Now()
	exited, err := e.spawnProcess(ctx, library)
	if err != nil {
		return Endpoint{}, fmt.Errorf("the engine cannot be started: %w", err)
	}
	return e.awaitAnswer(ctx, exited, began)
}

// spawnProcess starts the engine's process in a session of its own, with a new
// pseudo-terminal whose both sides it gets, so that neither a Ctrl-C at our
// terminal nor our own end reaches it. The engine's lock is taken here and given
// to it, so that there is no moment at which an engine is on its way and not
// seen: another start would send a second one after it, and Close would not
// wait for it. The channel has how it ended: one that was killed has no last words.
func (e *Engine) spawnProcess(ctx context.Context, library string) (exited <-chan string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// Those who look whether an engine runs hold the lock for that moment.
	own, err := waitLock(ctx, e.home.engineLock(), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	// Not before: an engine that runs where its process cannot be seen has this file.
	if err := os.Remove(e.home.endpointFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer master.Close()
	defer slave.Close()
	if err := os.Rename(e.home.logFile(), e.home.logFile()+".1"); err != nil && !errors.Is(err, os.ErrNotExist) { // it may say why that engine ended
		return nil, err
	}
	log, err := os.OpenFile(e.home.logFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(self, Command, filepath.Dir(string(e.home)), library)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, log, log
	cmd.ExtraFiles = []*os.File{master, own} // masterFD, ownFD
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan string, 1)
	go func() {
		cmd.Wait()
		ended <- cmd.ProcessState.String()
	}()
	return ended, nil
}

// awaitAnswer waits until the engine answers. It fails at once when the
// process ends first: the engine's own last words are the reason. One that this process
// began to start has the patience of a start. One that another process started is out of
// reach or, where it was long ago, frozen after silencePatience.
func (e *Engine) awaitAnswer(ctx context.Context, exited <-chan string, began time.Time) (Endpoint, error) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	var silent error
	loading := began // until then it loaded its parts
	heard := began   // of any answer, a refusal too
	for {
		at, err := e.home.readEndpoint()
		if err == nil {
			var status int
			status, silent = at.askSoon(ctx)
			if status == http.StatusOK {
				return at, nil
			}
			if silent == nil || e.home.isStarting(silent) {
				heard = time.Now()
			}
			if exited == nil && silent != nil && time.Since(began) >= silencePatience {
				if err := e.home.checkReach(ctx, at.PID); err != nil {
					return Endpoint{}, err
				}
			}
		}
		if exited == nil && err == nil && time.Since(heard) >= silencePatience {
			return at, errFrozen
		}
		if exited != nil && errors.Is(silent, unix.ECONNREFUSED) && time.Since(began) < loadPatience {
			loading = time.Now()
		}
		if exited != nil && time.Since(loading) >= startPatience {
			return Endpoint{}, e.noAnswer(context.DeadlineExceeded)
		}
		select {
		case <-ctx.Done():
			return Endpoint{}, e.noAnswer(ctx.Err())
		case how := <-exited:
			return Endpoint{}, e.endedEarly(how)
		case <-pause.C:
			if running, err := isHeld(e.home.engineLock()); exited == nil && (err != nil || !running) {
				return Endpoint{}, errors.Join(errGone, err)
			}
		}
	}
}

func (e *Engine) noAnswer(err error) error {
	return fmt.Errorf("the engine does not answer (its log is %s): %w", e.home.logFile(), err)
}

// askSoon asks with little patience.
func (at Endpoint) askSoon(ctx context.Context) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return at.pingEngine(ctx)
}

// pingEngine sends the smallest statement as the reader and returns the answer's
// status.
func (at Endpoint) pingEngine(ctx context.Context) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.Address+"/?query=SELECT+1", nil)
	if err != nil {
		return 0, err
	}
	req.SetBasicAuth(ReaderUser, at.ReaderPassword)
	req.Header.Set(GateHeader, at.Gate)
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// neededSpace is what an engine needs on its disk to start, with much to spare.
const neededSpace = 1 << 20

// endedEarly returns why the engine did not start. What it says of a full disk
// itself is that a write failed.
func (e *Engine) endedEarly(how string) error {
	if err := e.FullDisk(); err != nil {
		return err
	}
	return fmt.Errorf("the engine ended while it started, with %s: %s", how, e.lastWords())
}

// FullDisk returns an error if the data directory's disk has no space left for an
// engine to run, which ends at the first write that fails; else nil.
func (e *Engine) FullDisk() error {
	var disk unix.Statfs_t
	if err := unix.Statfs(string(e.home), &disk); err != nil || disk.Bavail*uint64(disk.Bsize) >= neededSpace {
		return nil
	}
	return fmt.Errorf("the disk is full: the engine cannot start with %d bytes left at %s; free some space (%s)", disk.Bavail*uint64(disk.Bsize), e.home, e.lastWords())
}

func (e *Engine) lastWords() string {
	text, err := os.ReadFile(e.home.logFile())
	if err != nil {
		return err.Error()
	}
	if len(text) == 0 {
		return e.home.logFile() + " is empty"
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	last := lines[max(0, len(lines)-5):]
	return string(bytes.Join(last, []byte("; ")))
}
