// Package tables is the port of small tables on the engine: what was committed,
// which numbers were given out, and what is dead. It decides nothing.
package tables

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

var _ tables.Port = Port{}

// Reader runs reading statements on one account, and on all.
type Reader interface {
	conn.Reader
	ReadAll(ctx context.Context, sql string, read func(conn.Rows) error) error
}

// Port is the port of tables on a cluster, which finds the server that holds an
// account, or on one session alone, of which the tables can only be read.
type Port struct {
	cluster *cluster.Cluster
	at      Reader
}

// On returns the small tables of a database.
func On(c *cluster.Cluster) Port { return Port{c, c} }

// OfSession returns the small tables as a session reads them.
func OfSession(c *conn.Session) Port { return Port{at: c} }

// Manifest reads what of an account is visible now.
func (p Port) Manifest(ctx context.Context, account string) (manifest.Manifest, error) {
	state, err := commits.Read(ctx, p, account)
	if adlens.KindOf(err) == adlens.Damaged {
		p.cluster.Home().Alarm(ctx, err)
	}
	return state.Manifest, err
}

// NewestCommit returns the number of the last load or restore of an account that a
// shard has, whether the account is there or not; 0 for none.
func NewestCommit(ctx context.Context, s *cluster.Shard, account string) (number uint32, err error) {
	s.CatchUp("commits")
	err = s.ReadOnce(ctx, "SELECT max(number) FROM commits WHERE account_id = {account:String} AND number != {closed:UInt32}",
		conn.Params{"account": query.Text(account), "closed": conn.Number(uint32(manifest.Closed))}, conn.ScanInto(&number))
	return number, s.Name(err)
}

// LastWrites returns the accounts of which a shard has loads, or did have some, or one
// where it is not "": the number of the last, manifest.Closed where it is closed, and 0
// where only the seals of what was lost are left.
func LastWrites(ctx context.Context, s *cluster.Shard, account string) (map[string]uint32, error) {
	s.CatchUp("commits", "seals")
	all, err := conn.CollectMap[string, uint32](ctx, s, `
SELECT account_id, max(number)
FROM (
    SELECT account_id, number FROM commits WHERE {account:String} = '' OR account_id = {account:String}
    UNION ALL
    SELECT account_id, toUInt32(0) AS number FROM seals WHERE {account:String} = '' OR account_id = {account:String}
)
GROUP BY account_id`, conn.Params{"account": query.Text(account)})
	return all, s.Name(err)
}

// CommittedWithin reports whether a shard took a commit of an account within a time, by
// the shard's clock.
func CommittedWithin(ctx context.Context, s *cluster.Shard, account string, within time.Duration) (bool, error) {
	s.CatchUp("commits")
	found := uint8(0)
	err := s.ReadOnce(ctx, "SELECT count() > 0 FROM commits WHERE account_id = {account:String} AND committed_at > now64(3) - INTERVAL {seconds:UInt32} SECOND",
		conn.Params{"account": query.Text(account), "seconds": conn.Number(uint32(within.Seconds()))}, conn.ScanInto(&found))
	return found > 0, s.Name(err)
}

// table is a small table whose rows are of type R.
type table[R any] struct {
	Port
	name     string
	columns  string // that are written, beside the account's
	selected string // that are read, where they are others
	number   string // the column by which dead rows are told
	values   func(R) []any
	scan     func(scan conn.Scan) (R, error)
	// around is called with each insert; nil where nothing else is to be done.
	around func(account string, insert func() error) error
}

func (t table[R]) Append(ctx context.Context, account string, rows ...R) error {
	if len(rows) == 0 {
		return nil
	}
	insert := func() error {
		return t.cluster.Insert(ctx, account, "INSERT INTO "+t.name+" (account_id, "+t.columns+")", func(batch conn.Batch) error {
			for _, r := range rows {
				if err := batch.Append(append([]any{account}, t.values(r)...)...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if t.around != nil {
		return t.around(account, insert)
	}
	return insert()
}

func (t table[R]) readColumns() string {
	if t.selected != "" {
		return t.selected
	}
	return t.columns
}

func (t table[R]) Read(ctx context.Context, account string) ([]R, error) {
	return conn.Collect(ctx, t.at, "SELECT "+t.readColumns()+" FROM "+t.name+" WHERE account_id = {account:String}", conn.Params{"account": query.Text(account)}, t.scan)
}

func (t table[R]) ReadAll(ctx context.Context) (map[string][]R, error) {
	all := map[string][]R{}
	err := t.at.ReadAll(ctx, "SELECT account_id, "+t.readColumns()+" FROM "+t.name, conn.EachRow(func(scan conn.Scan) error {
		var account string
		row, err := t.scan(func(into ...any) error { return scan(append([]any{&account}, into...)...) })
		all[account] = append(all[account], row)
		return err
	}))
	return all, err
}

func (t table[R]) DeleteBelow(ctx context.Context, account string, below uint32) error {
	return t.cluster.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DELETE WHERE account_id = {account:String} AND %s < {below:UInt32} SETTINGS mutations_sync = 0", t.name, t.number),
		conn.Params{"account": query.Text(account), "below": conn.Number(below)})
}

func announcing[R any](t table[R]) tables.Table[R] {
	return tables.Announcing(t, t.name, t.at.CatchUp)
}

func (p Port) Reservations() tables.Table[tables.Reservation] {
	return announcing(table[tables.Reservation]{Port: p, name: "number_blocks", columns: "first, next, token", number: "next",
		values: func(r tables.Reservation) []any { return []any{r.First, r.Next, r.Token} },
		scan: func(scan conn.Scan) (r tables.Reservation, err error) {
			err = scan(&r.First, &r.Next, &r.Token)
			return r, err
		}})
}

func (p Port) Commits() tables.Table[manifest.Commit] {
	return announcing(table[manifest.Commit]{Port: p, name: "commits", columns: "number, base, units, digest",
		selected: "number, base, units, digest, committed_at", number: "number",
		values: func(c manifest.Commit) []any { return []any{c.Number, c.Base, c.Rows, c.Digest} },
		scan: func(scan conn.Scan) (c manifest.Commit, err error) {
			err = scan(&c.Number, &c.Base, &c.Rows, &c.Digest, &c.At)
			return c, err
		},
		// Readers in all processes look again once a commit is announced.
		around: func(account string, insert func() error) error {
			if err := p.cluster.RequireHeld(account); err != nil {
				return err
			}
			return p.cluster.Announce(account, insert)
		}})
}

func (p Port) Units() tables.Table[tables.Unit] {
	return table[tables.Unit]{Port: p, name: "commit_units", number: "number",
		columns: UnitColumns,
		values:  unitValues, scan: ScanUnit}
}

// UnitColumns are the columns of a unit.
const UnitColumns = "number, kind, marketplace_key, ad_product, start, generation, rows, report_ids, report_times, report_hashes, report_days, report_columns, origin"

func unitValues(u tables.Unit) []any {
	ids, times, hashes, days, columns := sourceColumns(u.Sources)
	return []any{u.Number, uint8(u.Kind), u.Slice.Marketplace, uint8(u.Slice.AdProduct), u.Start.Time(), u.Generation,
		append([]uint64{u.Rows}, u.Derived...), ids, times, hashes, days, columns, u.Origin}
}

// ScanUnit reads a row of the units as Units selects it.
func ScanUnit(scan conn.Scan) (tables.Unit, error) {
	var (
		u               tables.Unit
		kind, adProduct uint8
		start           time.Time
		rows            []uint64
		ids, hashes     []string
		columns         []string
		times           []time.Time
		days            []uint32
	)
	if err := scan(&u.Number, &kind, &u.Slice.Marketplace, &adProduct, &start, &u.Generation, &rows, &ids, &times, &hashes, &days, &columns, &u.Origin); err != nil {
		return u, err
	}
	u.Kind, u.Slice.AdProduct, u.Start = manifest.Kind(kind), adlens.AdProduct(adProduct), adlens.DayOf(start)
	if len(rows) > 0 {
		u.Rows = rows[0]
	}
	if len(rows) > 1 {
		u.Derived = rows[1:]
	}
	u.Sources = slices.Grow(u.Sources, len(ids))
	for i := range ids {
		s := manifest.Source{ReportID: ids[i], GeneratedAt: times[i].UTC(), SHA256: hashes[i], Days: manifest.Days(days[i])}
		if i < len(columns) {
			text, _ := reportColumns.LoadOrStore(columns[i], columns[i])
			s.Columns = text.(string)
		}
		u.Sources = append(u.Sources, s)
	}
	return u, nil
}

// reportColumns has each list of columns once: thousands of reports have the same long
// text, and there are few such texts.
var reportColumns sync.Map // string to itself

func sourceColumns(sources []manifest.Source) (ids []string, times []time.Time, hashes []string, days []uint32, columns []string) {
	for _, s := range sources {
		ids, times = append(ids, s.ReportID), append(times, s.GeneratedAt)
		hashes, days, columns = append(hashes, s.SHA256), append(days, uint32(s.Days)), append(columns, s.Columns)
	}
	return ids, times, hashes, days, columns
}

func (p Port) Seals() tables.Table[tables.Seal] {
	return announcing(table[tables.Seal]{Port: p, name: "seals", columns: "version", number: "version",
		values: func(s tables.Seal) []any { return []any{s.Number} },
		scan: func(scan conn.Scan) (s tables.Seal, err error) {
			err = scan(&s.Number)
			return s, err
		}})
}

func (p Port) Settled() tables.Table[tables.Settled] {
	return announcing(table[tables.Settled]{Port: p, name: "accounted", columns: "next", number: "next",
		values: func(s tables.Settled) []any { return []any{s.Next} },
		scan: func(scan conn.Scan) (s tables.Settled, err error) {
			err = scan(&s.Next)
			return s, err
		}})
}

func (p Port) Dead() tables.Table[tables.Dead] {
	return table[tables.Dead]{Port: p, name: deadTable, columns: "table_name, generation", selected: "table_name, generation, found_at", number: "generation",
		values: func(d tables.Dead) []any { return []any{d.Table, d.Generation} },
		scan: func(scan conn.Scan) (d tables.Dead, err error) {
			err = scan(&d.Table, &d.Generation, &d.NotedAt)
			return d, err
		}}
}

// countInOrder has the server count the rows of a generation one after the other.
const countInOrder = "\nSETTINGS optimize_aggregation_in_order = 1"

// CountRows counts in one statement. Parts know how many rows they have, so
// little is read. Of one account the small tables are grouped together: a group of its own
// for each costs the server twice as much as all the rest of the statement. Those of figures
// are each grouped as they are sorted: of a large account that takes half as long.
func (p Port) CountRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	if account == "" {
		return p.countRows(ctx, account, "0", names)
	}
	var selects, together []string
	small := tables.SmallOfGenerations()
	for i, name := range names {
		if cluster.CountOf(name) != "count()" || !slices.Contains(small, name) {
			selects = append(selects, fmt.Sprintf("SELECT toUInt8(%d) AS at, generation, %s AS n FROM %s WHERE account_id = {account:String} GROUP BY generation", i, cluster.CountOf(name), name))
			continue
		}
		together = append(together, fmt.Sprintf("SELECT toUInt8(%d) AS at, generation FROM %s WHERE account_id = {account:String}", i, name))
	}
	if len(together) > 0 {
		selects = append(selects, "SELECT at, generation, count() AS n FROM (\n"+strings.Join(together, "\nUNION ALL\n")+"\n) GROUP BY at, generation")
	}
	return conn.Collect(ctx, p.at, strings.Join(selects, "\nUNION ALL\n")+countInOrder, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (c tables.Count, err error) {
		var at uint8
		err = scan(&at, &c.Generation, &c.Rows)
		c.Account, c.Table = account, names[at]
		return c, err
	})
}

// ReadRows has the server read all columns to add up a number that is thrown away.
func (p Port) ReadRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	return p.countRows(ctx, account, "ifNull(sum(cityHash64(*)), 0)", names)
}

func (p Port) countRows(ctx context.Context, account, reading string, names []string) ([]tables.Count, error) {
	filter := "true"
	if account != "" {
		filter = "account_id = {account:String}"
	}
	selects := make([]string, len(names))
	for i, name := range names {
		selects[i] = fmt.Sprintf("SELECT account_id, '%s' AS name, generation, %s AS n, toUInt64(%s) AS content FROM %s WHERE %s GROUP BY account_id, generation", name, cluster.CountOf(name), reading, name, filter)
	}
	sql := strings.Join(selects, "\nUNION ALL\n") + countInOrder
	scanCount := func(scan conn.Scan) (c tables.Count, err error) {
		var content uint64
		err = scan(&c.Account, &c.Table, &c.Generation, &c.Rows, &content)
		return c, err
	}
	if account != "" {
		return conn.Collect(ctx, p.at, sql, conn.Params{"account": query.Text(account)}, scanCount)
	}
	var all []tables.Count
	err := p.at.ReadAll(ctx, sql, conn.EachRow(func(scan conn.Scan) error {
		c, err := scanCount(scan)
		all = append(all, c)
		return err
	}))
	return all, err
}

// DeleteRows has each server delete the rows of its accounts.
func (p Port) DeleteRows(ctx context.Context, deletions []tables.Deletion) error {
	byShard := map[*cluster.Shard][]tables.Deletion{}
	for _, d := range deletions {
		s, err := p.cluster.Holder(ctx, query.Text(d.Account))
		if err != nil {
			return err
		}
		byShard[s] = append(byShard[s], d)
	}
	for _, s := range p.cluster.Shards() {
		if err := deleteAll(ctx, s.Server, byShard[s]); err != nil {
			return s.Name(err)
		}
	}
	return nil
}

// Clear leaves tables alone that have nothing of the account.
func (p Port) Clear(ctx context.Context, account string, names ...string) error {
	for _, name := range names {
		if err := p.cluster.RequireHeld(account); err != nil {
			return err
		}
		shard, err := p.cluster.Keeper(ctx, name, query.Text(account))
		if err != nil {
			return err
		}
		left, err := shard.TablesWith(ctx, []string{name}, account)
		if err != nil || len(left) == 0 {
			if err != nil {
				return shard.Name(err)
			}
			continue
		}
		sql, params := "ALTER TABLE "+name+" DELETE WHERE "+cluster.RowsOf(name), conn.Params{"account": query.Text(account)}
		if name == "commits" {
			sql, params["closed"] = sql+" AND number != {closed:UInt32}", conn.Number(uint32(manifest.Closed))
		}
		if err := shard.Exec(ctx, sql, params); err != nil {
			return shard.Name(fmt.Errorf("clearing %s: %w", name, err))
		}
	}
	return nil
}

// Reopen has all processes look again.
func (p Port) Reopen(ctx context.Context, account string, digests []uint64) error {
	if err := p.cluster.RequireHeld(account); err != nil {
		return err
	}
	return p.cluster.Announce(account, func() error {
		return p.cluster.Exec(ctx, "ALTER TABLE commits DELETE WHERE account_id = {account:String} AND number = {closed:UInt32} AND digest IN {digests:Array(UInt64)}",
			conn.Params{"account": query.Text(account), "closed": conn.Number(uint32(manifest.Closed)), "digests": query.Numbers(digests)})
	})
}

// Now is the time by the clock of the server that holds an account.
func (p Port) Now(ctx context.Context, account string) (now time.Time, err error) {
	s, err := p.cluster.Holder(ctx, query.Text(account))
	if err != nil {
		return now, err
	}
	return s.Now(ctx)
}
