package conn

import (
	"fmt"
	"testing"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A statement that meets the closing of its session was not begun: it is begun once more
// with the next one, and no fault of ours.
func TestAClosedSessionIsAnEngineThatIsAway(t *testing.T) {
	if kind := KindOf(t.Context(), fmt.Errorf("acquire: %w", clickhouse.ErrConnectionClosed)); kind != adlens.EngineUnavailable {
		t.Errorf("its kind is %s", kind)
	}
}
