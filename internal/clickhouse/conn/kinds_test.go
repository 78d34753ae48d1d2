package conn

import (
	"context"
	"fmt"
	"net"
	"testing"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A connection that does not come about says nothing of the statement, whose deadline may have
// passed meanwhile.
func TestAServerThatDoesNotAnswerIsAway(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), ended} {
		if kind := KindOf(ctx, fmt.Errorf("acquire: %w", timeout)); kind != adlens.EngineUnavailable {
			t.Errorf("its kind is %s", kind)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if kind := KindOf(left, timeout); kind != adlens.Cancelled {
		t.Errorf("after its caller left its kind is %s", kind)
	}
}

// What a server that shuts down ends of its statements is begun once more at the next
// replica: an insert with one code, a select with another. A caller that left has not seen
// that.
func TestAServerThatShutsDownIsAway(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	for _, code := range []int32{236, 394} {
		err := fmt.Errorf("shard 1: %w", &clickhouse.Exception{Code: code, Message: "Query was cancelled"})
		if kind := KindOf(t.Context(), err); kind != adlens.EngineUnavailable {
			t.Errorf("code %d is of kind %s", code, kind)
		}
		if kind := KindOf(left, err); kind != adlens.Cancelled {
			t.Errorf("after its caller left, code %d is of kind %s", code, kind)
		}
	}
	if isUnwritten(&clickhouse.Exception{Code: 394}) {
		t.Error("an insert that was ended is repeated, and may have written some of its rows")
	}
}

// A gateway answers for a server that is away, and another engine at the port of ours for
// itself. What a server says of a statement is no such answer.
func TestAGatewayWithoutAServerIsAServerThatIsAway(t *testing.T) {
	t.Parallel()
	silent := startSilent(t)
	server := NewServer(silent, Checks{})
	t.Cleanup(func() { server.Close() })
	for status, want := range map[int]adlens.Kind{502: adlens.EngineUnavailable, 503: adlens.EngineUnavailable, 404: adlens.EngineUnavailable, 414: adlens.Internal} {
		silent.status = status
		if err := server.ReadAsOwner(t.Context(), "SELECT 1", nil, ScanInto()); adlens.KindOf(err) != want {
			t.Errorf("an answer %d is of kind %s, expected %s: %v", status, adlens.KindOf(err), want, err)
		}
	}
}

// A statement that meets the closing of its session was not begun: it is begun once more
// with the next one, and no fault of ours.
func TestAClosedSessionIsAnEngineThatIsAway(t *testing.T) {
	if kind := KindOf(t.Context(), fmt.Errorf("acquire: %w", clickhouse.ErrConnectionClosed)); kind != adlens.EngineUnavailable {
		t.Errorf("its kind is %s", kind)
	}
}
