package clickhouse

import (
	"context"
	"time"
)

// Ages are how old what is stored is, over all accounts. A time is zero where
// there is nothing that it could be of.
type Ages struct {
	NewestLoad    time.Time // when something was last loaded into any account
	OldestLoad    time.Time // the last load of the account that waits longest for one
	Accounts      uint64    // all that there are, or were and are lost
	OldestRefresh time.Time // the last reading of the platform's reports of the connected account that waits longest for one
}

const (
	selectLoads = `SELECT max(last), min(last) FROM (SELECT max(committed_at) AS last FROM commits GROUP BY account_id)`

	countAccounts = `SELECT uniqExact(key) FROM directory_seals WHERE table_name = 'accounts'`

	selectRefreshes = `
SELECT min(last)
FROM (SELECT max(updated_at) AS last FROM refreshed WHERE account_id IN (SELECT account_id FROM connections) GROUP BY account_id)`
)

// Ages reads how old what is stored is.
func (db *DB) Ages(ctx context.Context) (a Ages, err error) {
	loads, err := gather(ctx, db, func(s *server) (one Ages, err error) {
		err = s.readOnce(ctx, selectLoads, nil, each(func(scan func(...any) error) error { return scan(&one.NewestLoad, &one.OldestLoad) }))
		return one, err
	})
	if err != nil {
		return Ages{}, err
	}
	for _, one := range loads {
		if newest := known(one.NewestLoad); newest.After(a.NewestLoad) {
			a.NewestLoad = newest
		}
		if oldest := known(one.OldestLoad); a.OldestLoad.IsZero() || !oldest.IsZero() && oldest.Before(a.OldestLoad) {
			a.OldestLoad = oldest
		}
	}
	err = db.home.readOnce(ctx, countAccounts, nil, each(func(scan func(...any) error) error { return scan(&a.Accounts) }))
	if err != nil {
		return a, err
	}
	err = db.home.readOnce(ctx, selectRefreshes, nil, each(func(scan func(...any) error) error {
		var oldest time.Time
		err := scan(&oldest)
		a.OldestRefresh = known(oldest)
		return err
	}))
	return a, err
}

// known takes the beginning of time, which is the least of none, for none.
func known(t time.Time) time.Time {
	if t.Unix() <= 0 {
		return time.Time{}
	}
	return t.UTC()
}
