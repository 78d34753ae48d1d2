package directory

import (
	"context"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// LoadedAccounts returns the accounts that are noted to have loads, or one where it is not "".
func LoadedAccounts(ctx context.Context, home conn.Reader, account string) ([]string, error) {
	return conn.CollectValues[string](ctx, home, "SELECT DISTINCT account_id FROM loaded_accounts WHERE {account:String} IN ('', account_id)", conn.Params{"account": query.Text(account)})
}

// NoteLoaded notes that accounts have loads. Where the shard of one has none later, they were
// lost.
func NoteLoaded(ctx context.Context, home *conn.Server, accounts ...string) error {
	if len(accounts) == 0 {
		return nil
	}
	return home.Insert(ctx, "INSERT INTO loaded_accounts (account_id)", func(batch conn.Batch) error {
		return batch.Column(0).Append(accounts)
	})
}
