package clickhouse

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const selectAccounts = `
SELECT account_id, argMax(name, updated_at), argMax(is_demo, updated_at), argMax(subscription_status, updated_at), min(created_at)
FROM accounts
WHERE {account:String} IN ('', account_id)
GROUP BY account_id
ORDER BY account_id`

// Account reads an account.
func (db *DB) Account(ctx context.Context, id string) (adlens.Account, bool, error) {
	if id == "" {
		return adlens.Account{}, false, nil
	}
	all, err := db.accounts(ctx, id)
	if err != nil || len(all) == 0 {
		return adlens.Account{}, false, err
	}
	return all[0], true, nil
}

// Accounts reads all accounts in the order of their ids.
func (db *DB) Accounts(ctx context.Context) ([]adlens.Account, error) { return db.accounts(ctx, "") }

func (db *DB) accounts(ctx context.Context, id string) ([]adlens.Account, error) {
	return collect(ctx, db.home, selectAccounts, Params{"account": query.Text(id)}, func(scan func(...any) error) (adlens.Account, error) {
		var a adlens.Account
		err := scan(&a.ID, &a.Name, &a.IsDemo, &a.Subscription, &a.CreatedAt)
		a.CreatedAt = a.CreatedAt.UTC()
		return a, err
	})
}

// PutAccount adds an account, or changes the one that has its id.
func (db *DB) PutAccount(ctx context.Context, a adlens.Account) error {
	if err := db.Place(ctx, a.ID); err != nil {
		return err
	}
	return db.home.insert(ctx, "INSERT INTO accounts (account_id, name, is_demo, subscription_status, created_at, updated_at)", func(batch driver.Batch) error {
		return batch.Append(a.ID, a.Name, a.IsDemo, a.Subscription, a.CreatedAt, time.Now().UTC())
	})
}
