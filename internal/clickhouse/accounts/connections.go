package accounts

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/query"
	"adlens/loader"
)

// Visible reads what is visible of an account.
type Visible interface {
	Manifest(ctx context.Context, account string) (manifest.Manifest, error)
	Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error)
	RateSpans(ctx context.Context, account string, generation uint32) ([]loader.RateSpan, error)
	Forms(ctx context.Context, account string, generation uint32) (loader.Forms, error)
	Ledger(ctx context.Context, account string) (map[loader.LedgerKey]bool, error)
}

// ConnectionStore is the connections of accounts, what was requested of the
// platform, and how far it was read.
type ConnectionStore struct {
	Cluster *cluster.Cluster
	Visible Visible
}

// Accounts reads all accounts, with and without connections.
func (c ConnectionStore) Accounts(ctx context.Context) ([]adlens.Account, error) {
	return AccountStore{c.Cluster}.Accounts(ctx)
}

// Connections reads the connections of an account, of all accounts where none is
// named, by account and name.
func (c ConnectionStore) Connections(ctx context.Context, account string) ([]adlens.Connection, error) {
	all, err := c.AllConnections(ctx, account)
	return slices.DeleteFunc(all, func(one adlens.Connection) bool { return one.Removed }), err
}

// AllConnections reads the connections of an account as Connections does, and those
// that were removed too.
func (c ConnectionStore) AllConnections(ctx context.Context, account string) ([]adlens.Connection, error) {
	all, err := conn.Collect(ctx, c.Cluster.Home(), directory.SelectConnections, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (adlens.Connection, error) {
		var to adlens.Connection
		err := scan(&to.Account, &to.Name, &to.Region, &to.ClientID, &to.Sealed, &to.ConnectedAt, &to.Accepted,
			&to.Choice.Profiles, &to.Choice.Countries, &to.Profiles, &to.Untaken, &to.Removed)
		to.ConnectedAt = to.ConnectedAt.UTC()
		return to, err
	})
	if err == nil && len(all) == 0 && account != "" {
		err = directory.RequireWhole(ctx, c.Cluster.Home().Server, "connections", query.Text(account))
	}
	return all, err
}

// PutConnection stores a connection, or its new state.
func (c ConnectionStore) PutConnection(ctx context.Context, to adlens.Connection) error {
	return directory.Change(ctx, c.Cluster.Home().Server, "connections", `
INSERT INTO connections (account_id, name, region, client_id, sealed, connected_at, accepted, chosen_profiles, chosen_countries, profiles, untaken, removed, updated_at)
SELECT {account:String}, {name:String}, {region:String}, {client:String}, {sealed:String}, fromUnixTimestamp64Milli({connected:Int64}, 'UTC'), {accepted:Bool},
    `+splitTexts("chosenProfiles")+`, `+splitTexts("chosenCountries")+`, `+splitTexts("profiles")+`, `+splitTexts("untaken")+`, {removed:Bool}, `+directory.NextRevision+`
FROM connections
WHERE account_id = {account:String}`, conn.Params{"account": query.Text(to.Account), "name": query.Text(to.Name), "region": query.Text(to.Region), "client": query.Text(to.ClientID),
		"sealed": query.Text(to.Sealed), "connected": milliseconds(&to.ConnectedAt), "accepted": strconv.FormatBool(to.Accepted),
		"chosenProfiles": strings.Join(to.Choice.Profiles, ","), "chosenCountries": strings.Join(to.Choice.Countries, ","),
		"profiles": strings.Join(to.Profiles, ","), "untaken": strings.Join(to.Untaken, ","), "removed": strconv.FormatBool(to.Removed)})
}

// Profiles reads the marketplaces that are held of an account.
func (c ConnectionStore) Profiles(ctx context.Context, account string) ([]platform.Profile, error) {
	m, err := c.Visible.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	held, err := c.Visible.Marketplaces(ctx, account, m.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	profiles := make([]platform.Profile, len(held))
	for i, h := range held {
		profiles[i] = h.Profile
	}
	return profiles, err
}

// HeldDays reads which days of a profile's ad product are held of an account.
func (c ConnectionStore) HeldDays(ctx context.Context, account, marketplaceID string, p adlens.AdProduct) (map[adlens.Day]bool, error) {
	m, err := c.Visible.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	markets, err := c.Visible.Marketplaces(ctx, account, m.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	days := map[adlens.Day]bool{}
	for _, market := range markets {
		for _, e := range m.Of(manifest.Month) {
			if market.ID != marketplaceID || e.Slice != (manifest.Slice{Marketplace: market.Key, AdProduct: p}) {
				continue
			}
			for day, held := e.Start, e.Held(); held != 0; day, held = day+1, held>>1 {
				if held&1 == 1 {
					days[day] = true
				}
			}
		}
	}
	return days, err
}

// RateSpans reads the first and the last day of the rates that are held of an
// account, by currency and where they come from.
func (c ConnectionStore) RateSpans(ctx context.Context, account string) ([]loader.RateSpan, error) {
	m, err := c.Visible.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	return c.Visible.RateSpans(ctx, account, m.Generation(manifest.Unit{Kind: manifest.Rates}))
}

// LoadedReports reads the ids of all reports of an account that were loaded.
func (c ConnectionStore) LoadedReports(ctx context.Context, account string) (map[string]bool, error) {
	lines, err := c.Visible.Ledger(ctx, account)
	ids := make(map[string]bool, len(lines))
	for line := range lines {
		ids[line.ReportID] = true
	}
	return ids, err
}

// LegacyProfiles reads which profiles of an account have campaigns of Sponsored Brands
// that a list said to have one ad group.
func (c ConnectionStore) LegacyProfiles(ctx context.Context, account string) (map[string]bool, error) {
	m, err := c.Visible.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	generation := m.Generation(manifest.Unit{Kind: manifest.Forms})
	if generation == 0 {
		return nil, nil
	}
	forms, err := c.Visible.Forms(ctx, account, generation)
	if err != nil {
		return nil, err
	}
	held, err := c.Visible.Marketplaces(ctx, account, m.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	profiles := map[string]bool{}
	for of, form := range forms {
		for _, h := range held {
			if form == platform.OneAdGroup && h.Key == of.Marketplace {
				profiles[h.ID] = true
			}
		}
	}
	return profiles, err
}

// AwaitedVersion returns the newest live generation of what downloaded reports wait
// for: an account's rates, and what lists say of campaigns.
func (c ConnectionStore) AwaitedVersion(ctx context.Context, account string) (uint32, error) {
	m, err := c.Visible.Manifest(ctx, account)
	if err != nil {
		return 0, err
	}
	return max(m.Generation(manifest.Unit{Kind: manifest.Rates}), m.Generation(manifest.Unit{Kind: manifest.Forms})), nil
}

// NothingOf reads of which days the platform answered last that it has no
// reports, by marketplace and report type.
func (c ConnectionStore) NothingOf(ctx context.Context, account string) ([]adlens.ReportRequest, error) {
	return conn.Collect(ctx, c.Cluster.Home(), `
SELECT marketplace_id, report_type, argMax(start_date, updated_at), argMax(end_date, updated_at), argMax(requested_at, updated_at)
FROM report_requests
WHERE account_id = {account:String} AND report_id = ''
GROUP BY marketplace_id, report_type
ORDER BY marketplace_id, report_type`, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (adlens.ReportRequest, error) {
		r := adlens.ReportRequest{Account: account, Done: true}
		var start, end time.Time
		err := scan(&r.MarketplaceID, &r.ReportType, &start, &end, &r.RequestedAt)
		r.Start, r.End = adlens.DayOf(start), adlens.DayOf(end)
		return r, err
	})
}

// OpenRequests reads the reports of an account that were requested and are not
// loaded yet.
func (c ConnectionStore) OpenRequests(ctx context.Context, account string) ([]adlens.ReportRequest, error) {
	return conn.Collect(ctx, c.Cluster.Home(), `
SELECT marketplace_id, report_type, start_date, end_date, argMax(report_id, updated_at), argMax(requested_at, updated_at)
FROM report_requests
WHERE account_id = {account:String}
GROUP BY marketplace_id, report_type, start_date, end_date
HAVING NOT argMax(done, updated_at)
ORDER BY marketplace_id, report_type, start_date, end_date`, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (adlens.ReportRequest, error) {
		r := adlens.ReportRequest{Account: account}
		var start, end time.Time
		err := scan(&r.MarketplaceID, &r.ReportType, &start, &end, &r.ReportID, &r.RequestedAt)
		r.Start, r.End = adlens.DayOf(start), adlens.DayOf(end)
		return r, err
	})
}

// PutRequest remembers a report that was requested, or that it is done.
func (c ConnectionStore) PutRequest(ctx context.Context, r adlens.ReportRequest) error {
	return c.Cluster.Home().Exec(ctx, `
INSERT INTO report_requests (account_id, marketplace_id, report_type, start_date, end_date, report_id, requested_at, done, updated_at)
SELECT {account:String}, {marketplace:String}, {type:String}, {start:Date}, {end:Date}, {report:String}, fromUnixTimestamp64Milli({requested:Int64}, 'UTC'), {done:Bool}, `+directory.NextRevision+`
FROM report_requests
WHERE account_id = {account:String} AND marketplace_id = {marketplace:String} AND report_type = {type:String} AND start_date = {start:Date} AND end_date = {end:Date}`,
		conn.Params{"account": query.Text(r.Account), "marketplace": query.Text(r.MarketplaceID), "type": query.Text(r.ReportType),
			"start": r.Start.String(), "end": r.End.String(), "report": query.Text(r.ReportID), "requested": milliseconds(&r.RequestedAt), "done": strconv.FormatBool(r.Done)})
}
