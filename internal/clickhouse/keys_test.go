package clickhouse

import (
	"slices"
	"testing"
	"time"

	"adlens/internal/auth"
)

func TestAccountsServedLastComeFirst(t *testing.T) {
	d := openShared(t)
	uses := map[string]time.Time{}
	put := func(account, key string, used time.Duration) {
		if err := d.Keys.PutKey(t.Context(), auth.Record{ID: key, AccountID: account, Hash: [32]byte([]byte("served last " + key + "                    ")[:32]), CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if used > 0 {
			uses[key] = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Add(used)
		}
	}
	put("served-once", "served-1", time.Hour)
	put("served-often", "served-2", time.Minute)
	put("served-often", "served-3", 3*time.Hour)
	put("served-never", "served-4", 0)
	put("served-before", "served-5", time.Second)
	if err := d.Keys.PutKeyUses(t.Context(), uses); err != nil {
		t.Fatal(err)
	}
	got, err := d.Keys.LastServed(t.Context(), 2)
	if want := []string{"served-often", "served-once"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, expected %q", got, err, want)
	}
}
