package conn

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// boundSilence has the system break a connection on which the other machine takes nothing of
// what is sent for so long, where it would send again for a quarter of an hour. A system that
// lacks the option does that.
func boundSilence(patience time.Duration) func(_, _ string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(patience/time.Millisecond))
		})
	}
}
