package clickhouse

import (
	"context"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/platform"
)

// Connections reads the newest state of connections; of all accounts where
// none is named.
func (db *DB) Connections(ctx context.Context, account string) ([]adlens.Connection, error) {
	return collect(ctx, db.home, `
SELECT account_id, region, client_id, sealed, connected_at, accepted
FROM connections
WHERE {account:String} IN ('', account_id)
ORDER BY account_id, updated_at DESC
LIMIT 1 BY account_id`, Params{"account": query.Text(account)}, func(scan func(...any) error) (adlens.Connection, error) {
		var c adlens.Connection
		err := scan(&c.Account, &c.Region, &c.ClientID, &c.Sealed, &c.ConnectedAt, &c.Accepted)
		c.ConnectedAt = c.ConnectedAt.UTC()
		return c, err
	})
}

// Connection reads an account's connection.
func (db *DB) Connection(ctx context.Context, account string) (adlens.Connection, bool, error) {
	all, err := db.Connections(ctx, account)
	return found(ctx, db.home, "connections", query.Text(account), all, err)
}

// PutConnection stores a connection, or its new state.
func (db *DB) PutConnection(ctx context.Context, c adlens.Connection) error {
	return db.home.change(ctx, "connections", `
INSERT INTO connections (account_id, region, client_id, sealed, connected_at, accepted, updated_at)
SELECT {account:String}, {region:String}, {client:String}, {sealed:String}, fromUnixTimestamp64Milli({connected:Int64}, 'UTC'), {accepted:Bool}, `+nextRevision+`
FROM connections
WHERE account_id = {account:String}`, Params{"account": query.Text(c.Account), "region": query.Text(c.Region), "client": query.Text(c.ClientID),
		"sealed": query.Text(c.Sealed), "connected": milliseconds(&c.ConnectedAt), "accepted": strconv.FormatBool(c.Accepted)})
}

// Profiles reads the marketplaces that are held of an account.
func (db *DB) Profiles(ctx context.Context, account string) ([]platform.Profile, error) {
	m, err := db.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	held, err := db.Marketplaces(ctx, account, m.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	profiles := make([]platform.Profile, len(held))
	for i, h := range held {
		profiles[i] = h.Profile
	}
	return profiles, err
}

// OpenRequests reads the reports of an account that were asked for and are not
// loaded yet.
func (db *DB) OpenRequests(ctx context.Context, account string) ([]adlens.ReportRequest, error) {
	return collect(ctx, db.home, `
SELECT marketplace_id, report_type, start_date, end_date, argMax(report_id, updated_at), argMax(requested_at, updated_at)
FROM report_requests
WHERE account_id = {account:String}
GROUP BY marketplace_id, report_type, start_date, end_date
HAVING NOT argMax(done, updated_at)
ORDER BY marketplace_id, report_type, start_date, end_date`, Params{"account": query.Text(account)}, func(scan func(...any) error) (adlens.ReportRequest, error) {
		r := adlens.ReportRequest{Account: account}
		var start, end time.Time
		err := scan(&r.MarketplaceID, &r.ReportType, &start, &end, &r.ReportID, &r.RequestedAt)
		r.Start, r.End = adlens.DayOf(start), adlens.DayOf(end)
		return r, err
	})
}

// PutRequest remembers a report that was asked for, or that it is done.
func (db *DB) PutRequest(ctx context.Context, r adlens.ReportRequest) error {
	return db.home.exec(ctx, `
INSERT INTO report_requests (account_id, marketplace_id, report_type, start_date, end_date, report_id, requested_at, done, updated_at)
SELECT {account:String}, {marketplace:String}, {type:String}, {start:Date}, {end:Date}, {report:String}, fromUnixTimestamp64Milli({requested:Int64}, 'UTC'), {done:Bool}, `+nextRevision+`
FROM report_requests
WHERE account_id = {account:String} AND marketplace_id = {marketplace:String} AND report_type = {type:String} AND start_date = {start:Date} AND end_date = {end:Date}`,
		Params{"account": query.Text(r.Account), "marketplace": query.Text(r.MarketplaceID), "type": query.Text(r.ReportType),
			"start": r.Start.String(), "end": r.End.String(), "report": query.Text(r.ReportID), "requested": milliseconds(&r.RequestedAt), "done": strconv.FormatBool(r.Done)})
}
