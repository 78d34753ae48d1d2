package conn

import (
	"context"
	"fmt"
	"net"
	"testing"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The time in which a connection is made has an end of its own, which is no deadline of
// the statement.
func TestAServerThatDoesNotAnswerIsAway(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	if kind := KindOf(t.Context(), fmt.Errorf("acquire: %w", timeout)); kind != adlens.EngineUnavailable {
		t.Errorf("its kind is %s", kind)
	}
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if kind := KindOf(ended, timeout); kind != adlens.QueryTimeout {
		t.Errorf("after its own deadline a statement's error is of kind %s", kind)
	}
}

// What a server that shuts down ends of its statements is begun once more at the next
// replica.
func TestAServerThatShutsDownIsAway(t *testing.T) {
	exception := &clickhouse.Exception{Code: 236, Message: "Server shutdown is called"}
	if kind := KindOf(t.Context(), fmt.Errorf("shard 1: %w", exception)); kind != adlens.EngineUnavailable {
		t.Errorf("its kind is %s", kind)
	}
}

// A statement that meets the closing of its session was not begun: it is begun once more
// with the next one, and no fault of ours.
func TestAClosedSessionIsAnEngineThatIsAway(t *testing.T) {
	if kind := KindOf(t.Context(), fmt.Errorf("acquire: %w", clickhouse.ErrConnectionClosed)); kind != adlens.EngineUnavailable {
		t.Errorf("its kind is %s", kind)
	}
}
