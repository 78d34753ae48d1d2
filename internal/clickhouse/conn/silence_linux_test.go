package conn

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sys/unix"
)

// Its system neither ends a connection nor confirms anything.
func TestAConnectionToAMachineThatIsGoneIsBrokenSoon(t *testing.T) {
	t.Parallel()
	address, _ := gone(t)
	options := &clickhouse.Options{Protocol: clickhouse.Native, DialTimeout: DialPatience}
	countDials(options, &atomic.Uint64{}, machinePatience)
	c, err := options.DialContext(t.Context(), address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]int{unix.TCP_USER_TIMEOUT: int(machinePatience / time.Millisecond), unix.TCP_KEEPIDLE: 5, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 2} {
		var got int
		var refused error
		err := raw.Control(func(fd uintptr) { got, refused = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) })
		if err != nil || refused != nil || got != want {
			t.Errorf("option %d is %d, expected %d: %v %v", option, got, want, err, refused)
		}
	}
}
