package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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
