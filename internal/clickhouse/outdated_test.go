package clickhouse

import (
	"crypto/sha256"
	"runtime"
	"testing"

	"adlens"
	"adlens/internal/clickhouse/accounts"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/schema"
)

// A copy of a server's disk from before an upgrade is put back under running servers.
func TestTablesOfAnEarlierVersionAreBroughtUpToDateAgain(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	running := pair(t, first, second)
	ids := onEach(t, running)
	steps, err := schema.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range running.Cluster.Shards() {
		for _, statement := range []string{"ALTER TABLE commit_units DROP COLUMN origin", "ALTER TABLE migrations DELETE WHERE number > 30 SETTINGS mutations_sync = 2"} {
			if err := s.Exec(t.Context(), statement, nil); err != nil {
				t.Fatal(err)
			}
		}
		s.Disconnect()
		// The first one prepares it, and the others wait, keys that are looked up among
		// them, which have all places to read meanwhile.
		asked := make(chan error)
		keys, ctx := max(4, 2*runtime.NumCPU())-1, t.Context()
		for n := range keys + 2 {
			go func() {
				if n < keys {
					_, _, err := accounts.KeyStore{Cluster: running.Cluster}.KeyByHash(ctx, sha256.Sum256([]byte{byte(n)}))
					asked <- err
					return
				}
				v, err := running.Figures.View(ctx, ids[i])
				if err == nil && v.Manifest.Version != 7 {
					t.Errorf("account %s has version %d", ids[i], v.Manifest.Version)
				}
				asked <- err
			}()
		}
		for range keys + 2 {
			if err := <-asked; err != nil {
				t.Errorf("shard %d: %v, %s", i+1, err, adlens.KindOf(err))
			}
		}
		if got, err := conn.Value[uint32](t.Context(), s, "SELECT max(number) FROM migrations", nil); err != nil || got != steps {
			t.Errorf("shard %d has %d steps, want %d: %v", i+1, got, steps, err)
		}
	}
}
