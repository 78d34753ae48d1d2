package accounts

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/query"
)

// Attempt reads when named work was last begun, by the server's clock.
func (c ConnectionStore) Attempt(ctx context.Context, name string) (adlens.Attempt, bool, error) {
	return firstOf(conn.Collect(ctx, c.Cluster.Home(), `
SELECT toInt64(toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(argMax(began_at, updated_at))), argMax(failures, updated_at)
FROM attempts
WHERE name = {name:String}
GROUP BY name`, conn.Params{"name": query.Text(name)}, func(scan conn.Scan) (adlens.Attempt, error) {
		var age int64
		var failures uint16
		err := scan(&age, &failures)
		return adlens.Attempt{Age: time.Duration(age) * time.Millisecond, Failures: int(failures)}, err
	}))
}

// BeginAttempt notes that work begins now. As it is not known how it ends, it
// counts as failed until EndAttempt.
func (c ConnectionStore) BeginAttempt(ctx context.Context, name string, failures int) error {
	return c.Cluster.Home().Exec(ctx, `
INSERT INTO attempts (name, began_at, failures, updated_at)
SELECT {name:String}, now64(3), {failures:UInt16}, `+directory.NextRevision+`
FROM attempts
WHERE name = {name:String}`, conn.Params{"name": query.Text(name), "failures": conn.Number(uint32(failures))})
}

// EndAttempt notes how often work has failed in a row by now.
func (c ConnectionStore) EndAttempt(ctx context.Context, name string, failures int) error {
	return c.Cluster.Home().Exec(ctx, `
INSERT INTO attempts (name, began_at, failures, updated_at)
SELECT name, argMax(began_at, updated_at), {failures:UInt16}, `+directory.NextRevision+`
FROM attempts
WHERE name = {name:String}
GROUP BY name`, conn.Params{"name": query.Text(name), "failures": conn.Number(uint32(failures))})
}

// Forgive forgets failures. The work with the name reports may begin at once; all
// whose names begin with lists keeps its distance, and what failed last stays so.
func (c ConnectionStore) Forgive(ctx context.Context, reports, lists string) error {
	return c.Cluster.Home().Exec(ctx, `
INSERT INTO attempts (name, began_at, failures, updated_at)
SELECT name, if(name = {reports:String}, toDateTime64(0, 3, 'UTC'), argMax(began_at, updated_at)),
    if(name = {reports:String}, 0, least(argMax(failures, updated_at), 1)), `+directory.NextRevision+`
FROM attempts
WHERE name = {reports:String} OR startsWith(name, {lists:String})
GROUP BY name`, conn.Params{"reports": query.Text(reports), "lists": query.Text(lists)})
}

// Refreshed reads how far the reports of an account were read.
func (c ConnectionStore) Refreshed(ctx context.Context, account string) ([]adlens.Refreshed, error) {
	return conn.Collect(ctx, c.Cluster.Home(), `
SELECT marketplace_id, report_type, argMax(through, updated_at), argMax(deep_through, updated_at)
FROM refreshed
WHERE account_id = {account:String}
GROUP BY marketplace_id, report_type
ORDER BY marketplace_id, report_type`, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (adlens.Refreshed, error) {
		r := adlens.Refreshed{Account: account}
		var through, deep time.Time
		err := scan(&r.MarketplaceID, &r.ReportType, &through, &deep)
		r.Through, r.DeepThrough = adlens.DayOf(through), adlens.DayOf(deep)
		return r, err
	})
}

// PutRefreshed notes how far reports were read.
func (c ConnectionStore) PutRefreshed(ctx context.Context, all []adlens.Refreshed) error {
	for _, r := range all {
		err := c.Cluster.Home().Exec(ctx, `
INSERT INTO refreshed (account_id, marketplace_id, report_type, through, deep_through, updated_at)
SELECT {account:String}, {marketplace:String}, {type:String}, {through:Date}, {deep:Date}, `+directory.NextRevision+`
FROM refreshed
WHERE account_id = {account:String} AND marketplace_id = {marketplace:String} AND report_type = {type:String}`,
			conn.Params{"account": query.Text(r.Account), "marketplace": query.Text(r.MarketplaceID), "type": query.Text(r.ReportType),
				"through": r.Through.String(), "deep": r.DeepThrough.String()})
		if err != nil {
			return err
		}
	}
	return nil
}
