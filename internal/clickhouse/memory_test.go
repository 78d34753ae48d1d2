package clickhouse

import (
	"testing"

	"adlens"
	"adlens/internal/clickhouse/conn"
)

// A question that needs more memory than one may have is refused by the engine
// itself, which lives on and answers the next.
func TestAQuestionBeyondTheMemoryIsRefusedAndTheEngineLives(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	before, err := d.engine.Endpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(rows conn.Rows) error {
		for rows.Next() {
		}
		return nil
	}
	err = d.Cluster.Read(t.Context(), "SELECT length(groupArray(number)) FROM numbers(2000000000) SETTINGS max_memory_usage = 200000000", nil, nothing)
	if adlens.KindOf(err) != adlens.Overloaded {
		t.Fatalf("got %v, expected a refusal of the kind %s", err, adlens.Overloaded)
	}
	if err := d.Cluster.Read(t.Context(), "SELECT 1", nil, nothing); err != nil {
		t.Errorf("the next question: %v", err)
	}
	if after, err := d.engine.Endpoint(t.Context()); err != nil || after.PID != before.PID {
		t.Errorf("the engine is process %d, it was %d: %v", after.PID, before.PID, err)
	}
}
