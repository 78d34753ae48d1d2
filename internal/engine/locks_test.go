package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAnAccountHasOneWriterAmongAllProcesses(t *testing.T) {
	t.Parallel()
	locks := Locks{t.TempDir()}
	other := startChild(t, "lock", locks.DataDir, "acct")
	if said := other.says(t); said != "locked <nil>" {
		t.Fatal(said)
	}
	release, err := locks.Lock(t.Context(), "another", func(string) { t.Error("another account is locked") })
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	holder := ""
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := locks.Lock(ctx, "acct", func(h string) { holder = h }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice, or another error: %v", err)
	}
	if want := fmt.Sprint("process ", other.cmd.Process.Pid, " since "); !strings.HasPrefix(holder, want) {
		t.Errorf("the holder is reported to be %q, expected %q", holder, want)
	}
	other.kill()
	release, err = locks.Lock(t.Context(), "acct", func(h string) { t.Errorf("the dead %s still holds the lock", h) })
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestAnAccountHasOneWriterInsideOneProcess(t *testing.T) {
	t.Parallel()
	locks := Locks{t.TempDir()}
	holders := make(chan int, 1)
	done := make(chan error)
	for range 4 {
		go func() {
			for range 5 {
				release, err := locks.Lock(t.Context(), "acct", func(string) {})
				if err != nil {
					done <- err
					return
				}
				select {
				case holders <- 1:
				default:
					done <- errors.New("two hold the lock")
					return
				}
				<-holders
				if err := release(); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A connection of 64 letters to an account of 64 has longer names than files may have.
func TestLongNamesHaveLocksOfTheirOwn(t *testing.T) {
	t.Parallel()
	locks := Locks{t.TempDir()}
	long := "reports/" + strings.Repeat("a", 64) + "/" + strings.Repeat("b", 63)
	for _, name := range []string{long + "1", long + "2"} {
		release, ok, err := locks.Try(t.Context(), name)
		if !ok || err != nil {
			t.Fatalf("%s: %v %v", name, ok, err)
		}
		defer release()
		if held, err := locks.Held(t.Context(), name); !held || err != nil {
			t.Errorf("%s is held: %v, %v", name, held, err)
		}
	}
}

// An engine whose file is of the future, because the clock was set back, is no new one
// for as long as that.
func TestAClockThatWasSetBackMakesNoEngineNew(t *testing.T) {
	t.Parallel()
	h := home(t.TempDir())
	if err := os.WriteFile(h.endpointFile(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for ahead, want := range map[time.Duration]bool{0: true, time.Hour: false, -time.Hour: false} {
		at := time.Now().Add(ahead)
		if err := os.Chtimes(h.endpointFile(), at, at); err != nil {
			t.Fatal(err)
		}
		if got := h.isStarting(nil); got != want {
			t.Errorf("an engine of %s from now is starting: %v", ahead, got)
		}
	}
}

// A process that waits for a lock tries it a hundred times a second.
func TestALockThatIsHeldByAnotherLeavesNoFileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held.lock")
	held, err := tryLock(path, unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	leavesNoFileOpen(t, func() {
		if _, err := tryLock(path, unix.LOCK_EX); !errors.Is(err, errLocked) {
			t.Fatalf("locked twice, or another error: %v", err)
		}
	})
}

func TestALookForALockLeavesNoTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		if held, err := (Locks{dir}).Held(t.Context(), "acct"); held || err != nil {
			t.Errorf("a lock that was never taken is held: %v, %v", held, err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, "locks")); err != nil || len(files) > 0 {
		t.Errorf("it left %v, %v", files, err)
	}
}

// A longer text of the holder before must not end that of this one.
func TestTheHolderOfALockIsNamedAlone(t *testing.T) {
	t.Parallel()
	locks := Locks{t.TempDir()}
	path, err := locks.prepareLockFile("acct")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil || holderOf(path) != "another process" {
		t.Errorf("a holder that did not say who it is yet is reported to be %q, %v", holderOf(path), err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := locks.Lock(t.Context(), "acct", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if holder := holderOf(path); strings.Contains(holder, "x") || !strings.HasPrefix(holder, fmt.Sprint("process ", os.Getpid(), " since ")) {
		t.Errorf("the holder is reported to be %q", holder)
	}
}

func TestTryingDoesNotWait(t *testing.T) {
	t.Parallel()
	locks := Locks{t.TempDir()}
	release, ok, err := locks.Try(t.Context(), "lists/acct/1")
	if err != nil || !ok {
		t.Fatalf("a free lock: %v %v", ok, err)
	}
	if _, ok, err := locks.Try(t.Context(), "lists/acct/1"); ok || err != nil {
		t.Errorf("a held lock was had again: %v %v", ok, err)
	}
	if _, ok, err := locks.Try(t.Context(), "lists/acct/2"); !ok || err != nil {
		t.Errorf("another name: %v %v", ok, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	// A process that another test is just starting may have the file for a moment.
	for until := time.Now().Add(5 * time.Second); ; {
		_, ok, err := locks.Try(t.Context(), "lists/acct/1")
		if err != nil || !ok && time.Now().After(until) {
			t.Fatalf("a released lock: %v %v", ok, err)
		}
		if ok {
			return
		}
	}
}
