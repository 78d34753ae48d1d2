package clickhouse

import (
	"context"
	"strconv"

	"adlens"
	"adlens/internal/query"
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
	return found(ctx, db.home, "accounts", query.Text(id), all, err)
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
	err := db.home.change(ctx, "accounts", `
INSERT INTO accounts (account_id, name, is_demo, subscription_status, created_at, updated_at)
SELECT {account:String}, {name:String}, {demo:Bool}, {status:String}, fromUnixTimestamp64Milli({created:Int64}, 'UTC'), `+nextRevision+`
FROM accounts
WHERE account_id = {account:String}`, Params{"account": query.Text(a.ID), "name": query.Text(a.Name), "demo": strconv.FormatBool(a.IsDemo),
		"status": query.Text(a.Subscription), "created": milliseconds(&a.CreatedAt)})
	if err != nil || db.home.id == "" {
		return err
	}
	return db.memory.keep(db.home.id)
}
