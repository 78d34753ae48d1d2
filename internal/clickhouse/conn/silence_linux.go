package conn

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// boundSilence has the system break a connection on which the other machine confirms nothing for
// a while, where it would send again for a quarter of an hour.
func boundSilence(_, _ string, c syscall.RawConn) error {
	var refused error
	err := c.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(machinePatience/time.Millisecond))
	})
	return errors.Join(err, refused)
}
