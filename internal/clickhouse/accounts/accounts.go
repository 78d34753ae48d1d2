// Package accounts stores who may ask and what is connected: accounts, their keys
// and feed links, how many requests were let in, connections to the platform, and
// what was requested there.
package accounts

import (
	"context"
	"strconv"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/query"
)

const selectAccounts = `
SELECT account_id, argMax(name, updated_at), argMax(is_demo, updated_at), argMax(subscription_status, updated_at), min(created_at)
FROM accounts
WHERE {account:String} IN ('', account_id)
GROUP BY account_id
ORDER BY account_id`

// AccountStore is the accounts of a database.
type AccountStore struct{ Cluster *cluster.Cluster }

// Account reads an account.
func (a AccountStore) Account(ctx context.Context, id string) (adlens.Account, bool, error) {
	if id == "" {
		return adlens.Account{}, false, nil
	}
	all, err := a.readAccounts(ctx, id)
	return directory.Found(ctx, a.Cluster.Home().Server, "accounts", query.Text(id), all, err)
}

// Accounts reads all accounts in the order of their ids.
func (a AccountStore) Accounts(ctx context.Context) ([]adlens.Account, error) {
	return a.readAccounts(ctx, "")
}

func (a AccountStore) readAccounts(ctx context.Context, id string) ([]adlens.Account, error) {
	return conn.Collect(ctx, a.Cluster.Home(), selectAccounts, conn.Params{"account": query.Text(id)}, func(scan conn.Scan) (adlens.Account, error) {
		var one adlens.Account
		err := scan(&one.ID, &one.Name, &one.IsDemo, &one.Subscription, &one.CreatedAt)
		one.CreatedAt = one.CreatedAt.UTC()
		return one, err
	})
}

// PutAccount adds an account, or changes the one that has its id.
func (a AccountStore) PutAccount(ctx context.Context, one adlens.Account) error {
	if err := a.Cluster.Placements().Place(ctx, one.ID); err != nil {
		return err
	}
	err := directory.Change(ctx, a.Cluster.Home().Server, "accounts", `
INSERT INTO accounts (account_id, name, is_demo, subscription_status, created_at, updated_at)
SELECT {account:String}, {name:String}, {demo:Bool}, {status:String}, fromUnixTimestamp64Milli({created:Int64}, 'UTC'), `+directory.NextRevision+`
FROM accounts
WHERE account_id = {account:String}`, conn.Params{"account": query.Text(one.ID), "name": query.Text(one.Name), "demo": strconv.FormatBool(one.IsDemo),
		"status": query.Text(one.Subscription), "created": milliseconds(&one.CreatedAt)})
	if err != nil {
		return err
	}
	return a.Cluster.RememberIdentity()
}
