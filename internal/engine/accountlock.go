package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// AccountLocks makes one process of a machine the only writer of an account,
// by file locks in the data directory. The kernel gives a lock back when its
// holder dies, so a crashed load holds up nobody.
type AccountLocks struct{ DataDir string }

// Lock takes the account's lock, waiting for its holder.
func (l AccountLocks) Lock(ctx context.Context, account string, waiting func(holder string)) (release func() error, err error) {
	dir := filepath.Join(l.DataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, hex.EncodeToString([]byte(account))+".lock")
	f, err := lock(path, unix.LOCK_EX)
	if errors.Is(err, errLocked) {
		waiting(holderOf(path))
		f, err = waitLock(ctx, path, unix.LOCK_EX)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(0), sign(f)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func sign(w io.Writer) error {
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
