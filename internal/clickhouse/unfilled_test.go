package clickhouse

import (
	"errors"
	"testing"

	"adlens/internal/clickhouse/conn"
)

// A block that cannot be filled keeps no connection: a restore that meets bad rows again and
// again would have none left for the server's own.
func TestABlockThatCannotBeFilledKeepsNoConnection(t *testing.T) {
	d := openShared(t)
	failed := errors.New("it cannot be filled")
	insert := func(fill func(conn.Batch) error) error {
		return d.Cluster.Home().Insert(t.Context(), "INSERT INTO loaded_accounts (account_id)", fill)
	}
	for range 80 { // more than a session has connections
		if err := insert(func(conn.Batch) error { return failed }); !errors.Is(err, failed) {
			t.Fatal(err)
		}
	}
	if err := insert(func(batch conn.Batch) error { return batch.Append(t.Name()) }); err != nil {
		t.Error(err)
	}
}
