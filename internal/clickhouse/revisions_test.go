package clickhouse

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/clickhouse/conn"
)

// recordNamed is a key or a feed link of its own.
func recordNamed(t *testing.T, what any) auth.Record {
	name := fmt.Sprint(t.Name(), " ", what)
	hash := sha256.Sum256([]byte(name))
	return auth.Record{ID: "id of " + name, AccountID: t.Name(), Name: name, Start: "key_live_abcd", Hash: hash, Scopes: []string{auth.ScopeRead},
		Request: "/api/v1/summary", CreatedAt: time.Date(2026, 11, 1, 12, 0, 0, 5e6, time.UTC)}
}

// revoked is the record as it is once it was revoked.
func revoked(r auth.Record) auth.Record {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r.RevokedAt = &at
	return r
}

// ahead makes the rows of a table as a clock that was years ahead had written
// them.
func ahead(t *testing.T, d *database, table, filter string) {
	t.Helper()
	sql := "INSERT INTO " + table + " SELECT * REPLACE (toDateTime64('2099-01-01 00:00:00', 9, 'UTC') AS updated_at) FROM " + table + " WHERE " + filter
	if err := d.Cluster.Home().Exec(t.Context(), sql, conn.Params{"account": t.Name()}); err != nil {
		t.Fatal(err)
	}
}

// changeable is a table of which a row can be changed.
type changeable struct {
	table, filter string
	put           func(ctx context.Context, d *database, changed bool) error
	isChanged     func(ctx context.Context, d *database) (bool, error)
}

// changeables are the tables whose rows are replaced by newer ones.
func changeables(t *testing.T) []changeable {
	account, day := t.Name(), adlens.Date(2026, 11, 1)
	expiring := recordNamed(t, "expiring")
	request := adlens.ReportRequest{Account: account, MarketplaceID: "1", ReportType: "spCampaigns", Start: day, End: day, ReportID: "r-1", RequestedAt: day.Time()}
	return []changeable{
		{"accounts", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			return d.Accounts.PutAccount(ctx, adlens.Account{ID: account, Name: "It's \\ \"new\"\n", Subscription: map[bool]string{false: "active", true: "canceled"}[changed], CreatedAt: day.Time()})
		}, func(ctx context.Context, d *database) (bool, error) {
			a, _, err := d.Accounts.Account(ctx, account)
			return a.Subscription == "canceled" && a.Name == "It's \\ \"new\"\n" && a.CreatedAt.Equal(day.Time()), err
		}},
		{"api_keys", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			if changed {
				return d.Keys.PutKey(ctx, revoked(recordNamed(t, 1)))
			}
			return d.Keys.PutKey(ctx, recordNamed(t, 1))
		}, func(ctx context.Context, d *database) (bool, error) {
			r, _, err := d.Keys.KeyByHash(ctx, recordNamed(t, 1).Hash)
			return r.RevokedAt != nil, err
		}},
		{"api_keys", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			one := expiring
			if end := day.Time(); changed {
				one.ExpiresAt = &end
			}
			return d.Keys.PutKey(ctx, one)
		}, func(ctx context.Context, d *database) (bool, error) {
			r, _, err := d.Keys.KeyByHash(ctx, expiring.Hash)
			return r.ExpiresAt != nil && r.ExpiresAt.Equal(day.Time()), err
		}},
		{"feeds", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			if changed {
				return d.Feeds.PutFeed(ctx, revoked(recordNamed(t, 2)))
			}
			return d.Feeds.PutFeed(ctx, recordNamed(t, 2))
		}, func(ctx context.Context, d *database) (bool, error) {
			r, _, err := d.Feeds.FeedByID(ctx, recordNamed(t, 2).ID)
			return r.RevokedAt != nil && r.Request == "/api/v1/summary", err
		}},
		{"connections", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			return d.Connections.PutConnection(ctx, adlens.Connection{Account: account, Region: "NA", ClientID: "app", Sealed: "sealed", ConnectedAt: day.Time(), Accepted: !changed})
		}, func(ctx context.Context, d *database) (bool, error) {
			c, _, err := d.Connections.Connection(ctx, account)
			return !c.Accepted && c.Sealed == "sealed" && c.ConnectedAt.Equal(day.Time()), err
		}},
		{"report_requests", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			request.Done = changed
			return d.Connections.PutRequest(ctx, request)
		}, func(ctx context.Context, d *database) (bool, error) {
			all, err := d.Connections.OpenRequests(ctx, account)
			return len(all) == 0, err
		}},
		{"refreshed", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			through := map[bool]adlens.Day{false: day, true: day + 1}[changed]
			return d.Connections.PutRefreshed(ctx, []adlens.Refreshed{{Account: account, MarketplaceID: "1", ReportType: "spCampaigns", Through: through, DeepThrough: day}})
		}, func(ctx context.Context, d *database) (bool, error) {
			all, err := d.Connections.Refreshed(ctx, account)
			return len(all) == 1 && all[0].Through == day+1 && all[0].DeepThrough == day, err
		}},
		{"attempts", "name = concat('reports/', {account:String})", func(ctx context.Context, d *database, changed bool) error {
			if changed {
				return d.Connections.EndAttempt(ctx, "reports/"+account, 0)
			}
			return d.Connections.BeginAttempt(ctx, "reports/"+account, 3)
		}, func(ctx context.Context, d *database) (bool, error) {
			a, _, err := d.Connections.Attempt(ctx, "reports/"+account)
			return a.Failures == 0, err
		}},
	}
}

func TestTheLastChangeCountsThoughAClockWasAheadOnce(t *testing.T) {
	d := openShared(t)
	for _, c := range changeables(t) {
		if err := c.put(t.Context(), d, false); err != nil {
			t.Fatal(c.table, err)
		}
		ahead(t, d, c.table, c.filter)
		if changed, err := c.isChanged(t.Context(), d); err != nil || changed {
			t.Errorf("%s: changed is %t before the change: %v", c.table, changed, err)
		}
		if err := c.put(t.Context(), d, true); err != nil {
			t.Fatal(c.table, err)
		}
		for _, when := range []string{"after the change", "after merging"} {
			if changed, err := c.isChanged(t.Context(), d); err != nil || !changed {
				t.Errorf("%s: the change does not count %s: %v", c.table, when, err)
			}
			if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE "+c.table+" FINAL", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A process that changes something else of a key may have read it before it was
// revoked.
func TestARevocationIsNeverLostToAConcurrentChange(t *testing.T) {
	d := openShared(t)
	const rounds = 20
	for i := range rounds {
		one := recordNamed(t, i)
		if err := d.Keys.PutKey(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		ahead(t, d, "api_keys", "account_id = {account:String}")
		later := one
		end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		later.ExpiresAt = &end
		changes := []auth.Record{later, revoked(one), later}
		var all sync.WaitGroup
		for _, change := range changes[i%2:] { // one or two other changes
			all.Go(func() {
				if err := d.Keys.PutKey(t.Context(), change); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := d.Keys.PutKey(t.Context(), later); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i := range rounds {
			got, found, err := d.Keys.KeyByHash(t.Context(), recordNamed(t, i).Hash)
			if err != nil || !found || got.RevokedAt == nil {
				t.Errorf("round %d: the key is valid again: %+v, %v", i, got, err)
			}
		}
		if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE api_keys FINAL", nil); err != nil {
			t.Fatal(err)
		}
	}
}
