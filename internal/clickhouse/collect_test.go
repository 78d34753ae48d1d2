package clickhouse

import "testing"

// Generations are never reused and die with every load, so their list may
// have grown long when nobody loaded anything for a while after many loads.
func TestACollectionCopesWithAnyNumberOfDeadGenerations(t *testing.T) {
	d := openShared(t)
	params := Params{"account": t.Name()}
	err := d.exec(t.Context(), "INSERT INTO dead_generations SELECT {account:String}, 'facts', number + 1000000, now64(3) - 3600 FROM numbers(150000)", params)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Collect(t.Context(), t.Name(), 0); err != nil {
		t.Fatal(err)
	}
	if left := one[uint64](t, d.DB, "SELECT count() FROM dead_generations WHERE account_id = {account:String}", params); left != 0 {
		t.Errorf("%d are still noted", left)
	}
}
