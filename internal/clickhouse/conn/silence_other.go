//go:build !linux

package conn

import (
	"syscall"
	"time"
)

// boundSilence leaves to the system how long it sends what the other machine does not take.
func boundSilence(time.Duration) func(_, _ string, _ syscall.RawConn) error { return nil }
