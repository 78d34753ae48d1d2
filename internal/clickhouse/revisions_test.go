package clickhouse

import (
	"context"
	"crypto/sha256"
	"errors"
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
		{"apps", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			app := appNamed(t, 3)
			if at := day.Time(); changed {
				app.RevokedAt = &at
			}
			return d.Apps.PutApp(ctx, app)
		}, func(ctx context.Context, d *database) (bool, error) {
			a, _, err := d.Apps.AppByID(ctx, appNamed(t, 3).ID)
			return a.RevokedAt != nil && a.Name == appNamed(t, 3).Name, err
		}},
		{"connections", "account_id = {account:String}", func(ctx context.Context, d *database, changed bool) error {
			return d.Connections.PutConnection(ctx, adlens.Connection{Account: account, Name: "NA", Region: "NA", ClientID: "app", Sealed: "sealed", ConnectedAt: day.Time(), Accepted: !changed})
		}, func(ctx context.Context, d *database) (bool, error) {
			all, err := d.Connections.Connections(ctx, account)
			return len(all) == 1 && !all[0].Accepted && all[0].Sealed == "sealed" && all[0].ConnectedAt.Equal(day.Time()), err
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

// A process that changes something else of a key or of an assistant's connection
// may have read it before it was revoked.
func TestARevocationIsNeverLostToAConcurrentChange(t *testing.T) {
	d := openShared(t)
	const rounds = 20
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	putKey := func(i int, revoke, change bool) error {
		one := recordNamed(t, i)
		if revoke {
			one = revoked(one)
		}
		if change {
			one.ExpiresAt = &end
		}
		return d.Keys.PutKey(t.Context(), one)
	}
	putApp := func(i int, revoke, change bool) error {
		one := appNamed(t, i)
		if revoke {
			one.RevokedAt = &end
		}
		if change {
			one.Refresh.ExpiresAt = end
		}
		return d.Apps.PutApp(t.Context(), one)
	}
	for table, put := range map[string]func(i int, revoke, change bool) error{"api_keys": putKey, "apps": putApp} {
		for i := range rounds {
			first := put(i, false, false)
			ahead(t, d, table, "account_id = {account:String}")
			changes := []func() error{
				func() error { return put(i, false, true) }, func() error { return put(i, true, false) }, func() error { return put(i, false, true) },
			}
			var all sync.WaitGroup
			for _, change := range changes[i%2:] { // one or two other changes
				all.Go(func() {
					if err := change(); err != nil {
						t.Error(table, err)
					}
				})
			}
			all.Wait()
			if err := errors.Join(first, put(i, false, true)); err != nil {
				t.Fatal(table, err)
			}
		}
	}
	for range 2 {
		for i := range rounds {
			key, found, err := d.Keys.KeyByHash(t.Context(), recordNamed(t, i).Hash)
			if err != nil || !found || key.RevokedAt == nil {
				t.Errorf("round %d: the key is valid again: %+v, %v", i, key, err)
			}
			app, found, err := d.Apps.AppByID(t.Context(), appNamed(t, i).ID)
			if err != nil || !found || app.RevokedAt == nil {
				t.Errorf("round %d: the connection is valid again: %+v, %v", i, app, err)
			}
		}
		for _, table := range []string{"api_keys", "apps"} {
			if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}
