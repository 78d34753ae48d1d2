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

// NoteLoaded notes that an account has loads. Where its shard has none later, they were lost.
func NoteLoaded(ctx context.Context, home *conn.Server, account string) error {
	return home.Exec(ctx, "INSERT INTO loaded_accounts SELECT {account:String}", conn.Params{"account": query.Text(account)})
}
