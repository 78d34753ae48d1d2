package clickhouse

import (
	"context"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
)

// A client that goes away frees the engine, as the engine's own list of what it
// runs shows.
func TestACancelledStatementLeavesTheEngine(t *testing.T) {
	d := openShared(t)
	const endless = "SELECT max(sipHash64(number)) FROM numbers(1000000000000) WHERE {account:String} != ''"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- d.Cluster.Read(ctx, endless, conn.Params{"account": t.Name()}, conn.EachRow(func(func(...any) error) error { return nil }))
	}()
	awaitRunning(t, d, 1)
	cancel()
	if err := <-ended; adlens.KindOf(err) != adlens.Cancelled {
		t.Errorf("the statement ended with %v", err)
	}
	awaitRunning(t, d, 0)
	if running := d.Cluster.Work().Running; running != 0 {
		t.Errorf("%d places are taken", running)
	}
}

// awaitRunning waits until so many endless statements run in the engine.
func awaitRunning(t *testing.T, d *database, want uint64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		var running uint64
		err := d.Cluster.Home().ReadAsOwner(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE '%processes%'", nil, conn.ScanInto(&running))
		if err != nil {
			t.Fatal(err)
		}
		if running == want {
			return
		}
	}
	t.Fatalf("the engine does not come to run %d", want)
}

// A statement may fail after blocks of rows that looked like all, as where its time ends.
func TestAStatementThatFailsAfterItsFirstRowsIsAnError(t *testing.T) {
	d := openShared(t)
	const failing = "SELECT number, throwIf(number = 200000, 'too far') FROM numbers(300000) WHERE {account:String} != '' SETTINGS max_block_size = 1000"
	rows := 0
	err := d.Cluster.Read(t.Context(), failing, conn.Params{"account": t.Name()}, conn.EachRow(func(func(...any) error) error { rows++; return nil }))
	if err == nil || !strings.Contains(err.Error(), "too far") || rows == 0 || rows > 200_000 {
		t.Errorf("after %d rows it ended with %v", rows, err)
	}
}
