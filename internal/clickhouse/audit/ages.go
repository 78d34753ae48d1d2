package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
)

// Ages are how old what is stored is, over all accounts. A time is zero where
// there is nothing that it could be of.
type Ages struct {
	NewestLoad    time.Time // when something was last loaded into any account
	OldestLoad    time.Time // the last load of the account that waits longest for one, of those that are kept fresh and were ever loaded
	NewestDay     time.Time // with figures of any account
	OldestDay     time.Time // that of the account whose figures end first, of those that are kept fresh
	Accounts      uint64    // all that there are, or were and are lost
	NewestRate    time.Time // the day of the newest rate that was fetched for any account
	OldestRate    time.Time // that of the account whose fetched rates end first, of those that are kept fresh
	OldestRefresh time.Time // the last reading of the platform's reports of the connection that waits longest for one, or when it was connected, if there was none

	Connections []ConnectionCount
}

// ConnectionCount is how many connections of a region are in a state.
type ConnectionCount struct {
	Region   string // NA, EU, FE
	Accepted bool   // the platform took their credentials the last time
	Count    uint64
}

const (
	// Rates of dead generations are of days that live ones have too.
	selectRates = `SELECT account_id, max(day) FROM rates WHERE fetched GROUP BY account_id`

	// What is canceled or made up may be left as it is: it would be the oldest for good.
	selectDormant = `SELECT account_id FROM accounts GROUP BY account_id HAVING argMax(is_demo OR subscription_status = 'canceled', updated_at)`

	countAccounts = `SELECT uniqExact(key) FROM directory_seals WHERE table_name = 'accounts'`

	// Of a connection that was made before connections had profiles, all that the
	// account refreshes counts.
	selectRefreshes = `
SELECT min(if(last > toDateTime(0), last, since))
FROM (
    SELECT any(c.connected_at) AS since, maxIf(r.updated_at, empty(c.profiles) OR has(c.profiles, r.marketplace_id)) AS last
    FROM (` + directory.SelectConnections + `) AS c LEFT JOIN refreshed AS r ON r.account_id = c.account_id
    WHERE NOT c.removed
    GROUP BY c.account_id, c.called
)`

	countConnections = `SELECT region, accepted, count() FROM (` + directory.SelectConnections + `) WHERE NOT removed GROUP BY region, accepted ORDER BY region, accepted`
)

// Ages reads how old what is stored is. The number of accounts is there also where the
// error is about what cannot be read of them.
func (a Audit) Ages(ctx context.Context) (all Ages, err error) {
	if err = a.cluster.Home().ReadOnce(ctx, countAccounts, nil, conn.ScanInto(&all.Accounts)); err != nil {
		return Ages{}, err
	}
	dormant, err := conn.CollectValues[string](ctx, a.cluster.Home(), selectDormant, nil)
	if err != nil {
		return all, err
	}
	loaded, err := a.readLoaded(ctx)
	if err != nil {
		return all, err
	}
	loads, days := map[string]time.Time{}, map[string]time.Time{}
	for account, l := range loaded {
		if loads[account] = l.LastLoad; l.NewestDay != 0 {
			days[account] = l.NewestDay.Time()
		}
	}
	rates, err := a.newestRates(ctx)
	if err != nil {
		return all, err
	}
	all.NewestLoad, all.OldestLoad = spanOf(loads, dormant)
	all.NewestDay, all.OldestDay = spanOf(days, dormant)
	all.NewestRate, all.OldestRate = spanOf(rates, dormant)
	everyAccount := conn.Params{"account": ""}
	all.Connections, err = conn.Collect(ctx, a.cluster.Home(), countConnections, everyAccount, func(scan conn.Scan) (one ConnectionCount, err error) {
		err = scan(&one.Region, &one.Accepted, &one.Count)
		return one, err
	})
	if err != nil {
		return all, err
	}
	err = a.cluster.Home().ReadOnce(ctx, selectRefreshes, everyAccount, conn.ScanInto(&all.OldestRefresh))
	all.OldestRefresh = orNone(all.OldestRefresh)
	return all, err
}

// newestRates reads the day of each account's newest rate that was fetched. Of an account that
// was just moved, two shards have some.
func (a Audit) newestRates(ctx context.Context) (map[string]time.Time, error) {
	shards, err := cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) (map[string]time.Time, error) {
		return conn.CollectMap[string, time.Time](ctx, s, selectRates, nil)
	})
	newest := map[string]time.Time{}
	for _, days := range shards {
		for account, day := range days {
			if day.After(newest[account]) {
				newest[account] = day.UTC()
			}
		}
	}
	return newest, err
}

// spanOf returns the newest of the accounts' times, and the oldest of those of accounts that
// are not dormant.
func spanOf(times map[string]time.Time, dormant []string) (newest, oldest time.Time) {
	for account, at := range times {
		if at.After(newest) {
			newest = at
		}
		if (oldest.IsZero() || at.Before(oldest)) && !slices.Contains(dormant, account) {
			oldest = at
		}
	}
	return newest, oldest
}

// orNone takes the beginning of time, which is the least of none, for none.
func orNone(t time.Time) time.Time {
	if t.Unix() <= 0 {
		return time.Time{}
	}
	return t.UTC()
}

// ClockOffset is how far the clock of a server is ahead of ours.
type ClockOffset struct {
	Server string // in words
	Ahead  time.Duration
}

// Clocks compares the clock of each shard with ours; of replicas, that of one.
func (a Audit) Clocks(ctx context.Context, now func() time.Time) ([]ClockOffset, error) {
	return cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) (ClockOffset, error) {
		one := ClockOffset{Server: "the database"}
		if s.Number != 0 {
			one.Server = fmt.Sprintf("shard %d", s.Number)
		}
		before := now()
		server, err := s.Now(ctx)
		// The answer lies between the question and its end.
		if one.Ahead = min(0, server.Sub(before)); one.Ahead == 0 {
			one.Ahead = max(0, server.Sub(now()))
		}
		return one, err
	})
}
