package adlens

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestAFullDiskIsKnownHoweverItIsMet(t *testing.T) {
	for want, err := range map[Kind]error{
		DiskFull:          fmt.Errorf("the lock: %w", &os.PathError{Op: "write", Path: "a.lock", Err: syscall.ENOSPC}),
		EngineUnavailable: &Error{EngineUnavailable, syscall.ENOSPC}, // it could not be started
		Internal:          errors.Join(os.ErrNotExist, syscall.EIO),
	} {
		if got := KindOf(err); got != want {
			t.Errorf("%v is of kind %s, expected %s", err, got, want)
		}
	}
}
