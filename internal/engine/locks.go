package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Locks let one process of a machine at a time do a thing that has a name, such
// as writing an account's data, by file locks in the data directory. The kernel
// gives a lock back when its holder dies, so a crashed one blocks no other.
type Locks struct{ DataDir string }

// Lock takes the lock of a name, waiting for its holder.
func (l Locks) Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error) {
	path, err := l.prepareLockFile(name)
	if err != nil {
		return nil, err
	}
	f, err := tryLock(path, unix.LOCK_EX)
	if errors.Is(err, errLocked) {
		waiting(holderOf(path))
		f, err = waitLock(ctx, path, unix.LOCK_EX)
	}
	if err != nil {
		return nil, err
	}
	return noteHolder(f)
}

// Try takes the lock of a name unless it is held.
func (l Locks) Try(_ context.Context, name string) (release func() error, ok bool, err error) {
	path, err := l.prepareLockFile(name)
	if err != nil {
		return nil, false, err
	}
	f, err := tryLock(path, unix.LOCK_EX)
	if errors.Is(err, errLocked) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	release, err = noteHolder(f)
	return release, err == nil, err
}

// Held reports whether the lock of a name is held. It leaves no trace.
func (l Locks) Held(_ context.Context, name string) (bool, error) {
	return heldNow(l.lockFile(name))
}

// mostDigits is how long the name of a lock's file is at most without its ending: file
// systems have names of 255 bytes.
const mostDigits = 240

func (l Locks) lockFile(name string) string {
	digits := hex.EncodeToString([]byte(name))
	if len(digits) > mostDigits {
		sum := sha256.Sum256([]byte(name))
		digits = hex.EncodeToString(sum[:])
	}
	return filepath.Join(l.DataDir, "locks", digits+".lock")
}

func (l Locks) prepareLockFile(name string) (string, error) {
	path := l.lockFile(name)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// noteHolder notes the holder in the file, for those who wait.
func noteHolder(f *os.File) (release func() error, err error) {
	if err := errors.Join(f.Truncate(0), writeHolder(f)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func writeHolder(w io.Writer) error {
	_, err := fmt.Fprintf(w, "process %d since %s", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	return err
}

func holderOf(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return "another process"
	}
	return string(text)
}

// errLocked says that another process holds a lock.
var errLocked = errors.New("locked")

// tryLock takes a file lock at once or fails with errLocked. Closing the file
// gives it back; so does the death of the process.
func tryLock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// waitLock takes a file lock, waiting for its holder until the context ends.
func waitLock(ctx context.Context, path string, how int) (*os.File, error) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		f, err := tryLock(path, how)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is held by another process: %w", path, ctx.Err())
		case <-pause.C:
		}
	}
}

// isHeld reports whether a lock is held exclusively.
func isHeld(path string) (bool, error) {
	f, err := tryLock(path, unix.LOCK_SH)
	if errors.Is(err, errLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}

// heldNow is isHeld for those who only look: a file that is not there is not made.
func heldNow(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	return isHeld(path)
}
