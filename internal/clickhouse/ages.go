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
	OldestRefresh time.Time // the last reading of the platform's reports of the connected account that waits longest for one
}

const selectAges = `
SELECT
    (SELECT max(committed_at) FROM manifest),
    (SELECT min(last) FROM (SELECT max(committed_at) AS last FROM manifest GROUP BY account_id)),
    (SELECT min(last) FROM (SELECT max(updated_at) AS last FROM refreshed WHERE account_id IN (SELECT account_id FROM connections) GROUP BY account_id))`

// Ages reads how old what is stored is.
func (db *DB) Ages(ctx context.Context) (a Ages, err error) {
	err = db.readOnce(ctx, selectAges, nil, each(func(scan func(...any) error) error {
		var times [3]*time.Time
		if err := scan(&times[0], &times[1], &times[2]); err != nil {
			return err
		}
		a = Ages{known(times[0]), known(times[1]), known(times[2])}
		return nil
	}))
	return a, err
}

// known takes the beginning of time, which is the least of none, for none.
func known(t *time.Time) time.Time {
	if t == nil || t.Unix() <= 0 {
		return time.Time{}
	}
	return t.UTC()
}
