package clickhouse

import (
	"context"
	"fmt"

	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var _ tables.Port = smallTables{}

// smallTables is the port of tables on ClickHouse: on a database, which finds
// the server that holds an account, or on one server alone.
type smallTables struct {
	db *DB
	at allQuerier
}

// allQuerier also runs statements on the rows of all accounts.
type allQuerier interface {
	querier
	readingAll(ctx context.Context, sql string, read func(driver.Rows) error) error
}

// Tables returns the small tables of the database.
func (db *DB) Tables() tables.Port { return smallTables{db, db} }

// readingAll runs a statement on each shard, one after the other: read sees the
// rows of all.
func (db *DB) readingAll(ctx context.Context, sql string, read func(driver.Rows) error) error {
	for _, s := range db.shards {
		if err := s.ready(ctx); err != nil {
			return s.named(err)
		}
		if err := s.asOwner(ctx, sql, nil, read); err != nil {
			return s.named(err)
		}
	}
	return nil
}

// poolTables reads the small tables over connections that nothing else is read
// from yet.
type poolTables struct {
	server *server
	pool   *pool
}

func (t poolTables) reading(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	return t.server.inspectAt(ctx, t.pool, sql, params, read)
}

func (t poolTables) readingAll(ctx context.Context, sql string, read func(driver.Rows) error) error {
	return t.server.inspectAt(ctx, t.pool, sql, nil, read)
}

// table is a small table whose rows are of type R.
type table[R any] struct {
	smallTables
	name     string
	columns  string // that are written, beside the account's
	selected string // that are read, where they are others
	number   string // the column by which dead rows are told
	values   func(R) []any
	scan     func(scan func(...any) error) (R, error)
	// around is called with each insert; nil where nothing else is to be done.
	around func(account string, insert func() error) error
}

func (t table[R]) Append(ctx context.Context, account string, rows ...R) error {
	if len(rows) == 0 {
		return nil
	}
	insert := func() error {
		return t.db.insert(ctx, account, "INSERT INTO "+t.name+" (account_id, "+t.columns+")", func(batch driver.Batch) error {
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

func (t table[R]) read() string {
	if t.selected != "" {
		return t.selected
	}
	return t.columns
}

func (t table[R]) Read(ctx context.Context, account string) ([]R, error) {
	return collect(ctx, t.at, "SELECT "+t.read()+" FROM "+t.name+" WHERE account_id = {account:String}", Params{"account": query.Text(account)}, t.scan)
}

func (t table[R]) ReadAll(ctx context.Context) (map[string][]R, error) {
	all := map[string][]R{}
	err := t.at.readingAll(ctx, "SELECT account_id, "+t.read()+" FROM "+t.name, each(func(scan func(...any) error) error {
		var account string
		row, err := t.scan(func(into ...any) error { return scan(append([]any{&account}, into...)...) })
		all[account] = append(all[account], row)
		return err
	}))
	return all, err
}

func (t table[R]) DeleteBelow(ctx context.Context, account string, below uint32) error {
	return t.db.exec(ctx, fmt.Sprintf("ALTER TABLE %s DELETE WHERE account_id = {account:String} AND %s < {below:UInt32} SETTINGS mutations_sync = 0", t.name, t.number),
		Params{"account": query.Text(account), "below": number(below)})
}

func (t smallTables) Reservations() tables.Table[tables.Reservation] {
	return table[tables.Reservation]{smallTables: t, name: "number_blocks", columns: "first, next, token", number: "next",
		values: func(r tables.Reservation) []any { return []any{r.First, r.Next, r.Token} },
		scan: func(scan func(...any) error) (r tables.Reservation, err error) {
			err = scan(&r.First, &r.Next, &r.Token)
			return r, err
		}}
}

func (t smallTables) Commits() tables.Table[manifest.Commit] {
	return table[manifest.Commit]{smallTables: t, name: "commits", columns: "number, base, units, digest",
		selected: "number, base, units, digest, committed_at", number: "number",
		values: func(c manifest.Commit) []any { return []any{c.Number, c.Base, c.Rows, c.Digest} },
		scan: func(scan func(...any) error) (c manifest.Commit, err error) {
			err = scan(&c.Number, &c.Base, &c.Rows, &c.Digest, &c.At)
			return c, err
		},
		// Readers in all processes look again once a commit is announced.
		around: func(account string, insert func() error) error {
			if err := t.db.stillHeld(account); err != nil {
				return err
			}
			return t.db.announced(account, insert)
		}}
}

func (t smallTables) Units() tables.Table[tables.Unit] {
	return table[tables.Unit]{smallTables: t, name: "commit_units", number: "number",
		columns: "number, kind, marketplace_key, ad_product, start, generation, rows, report_ids, report_times, report_hashes, report_days",
		values:  unitValues, scan: scanUnit}
}

func unitValues(u tables.Unit) []any {
	ids, times, hashes, days := sourceColumns(u.Sources)
	return []any{u.Number, uint8(u.Kind), u.Slice.Marketplace, uint8(u.Slice.AdProduct), u.Start.Time(), u.Generation,
		append([]uint64{u.Rows}, u.Derived...), ids, times, hashes, days}
}

func scanUnit(scan func(...any) error) (tables.Unit, error) {
	var (
		u               tables.Unit
		kind, adProduct uint8
		start           time.Time
		rows            []uint64
		ids, hashes     []string
		times           []time.Time
		days            []uint32
	)
	if err := scan(&u.Number, &kind, &u.Slice.Marketplace, &adProduct, &start, &u.Generation, &rows, &ids, &times, &hashes, &days); err != nil {
		return u, err
	}
	u.Kind, u.Slice.AdProduct, u.Start = manifest.Kind(kind), adlens.AdProduct(adProduct), adlens.DayOf(start)
	if len(rows) > 0 {
		u.Rows = rows[0]
	}
	if further := len(tables.OfKind(u.Kind)) - 1; further > 0 && len(rows) > further {
		u.Derived = rows[1 : 1+further]
	}
	for i := range ids {
		u.Sources = append(u.Sources, manifest.Source{ReportID: ids[i], GeneratedAt: times[i].UTC(), SHA256: hashes[i], Days: manifest.Days(days[i])})
	}
	return u, nil
}

func sourceColumns(sources []manifest.Source) (ids []string, times []time.Time, hashes []string, days []uint32) {
	for _, s := range sources {
		ids, times = append(ids, s.ReportID), append(times, s.GeneratedAt)
		hashes, days = append(hashes, s.SHA256), append(days, uint32(s.Days))
	}
	return ids, times, hashes, days
}

func (t smallTables) Seals() tables.Table[tables.Seal] {
	return table[tables.Seal]{smallTables: t, name: "seals", columns: "version", number: "version",
		values: func(s tables.Seal) []any { return []any{s.Number} },
		scan: func(scan func(...any) error) (s tables.Seal, err error) {
			err = scan(&s.Number)
			return s, err
		}}
}

func (t smallTables) Settled() tables.Table[tables.Settled] {
	return table[tables.Settled]{smallTables: t, name: "accounted", columns: "next", number: "next",
		values: func(s tables.Settled) []any { return []any{s.Next} },
		scan: func(scan func(...any) error) (s tables.Settled, err error) {
			err = scan(&s.Next)
			return s, err
		}}
}

func (t smallTables) Dead() tables.Table[tables.Dead] {
	return table[tables.Dead]{smallTables: t, name: notes, columns: "table_name, generation", selected: "table_name, generation, found_at", number: "generation",
		values: func(d tables.Dead) []any { return []any{d.Table, d.Generation} },
		scan: func(scan func(...any) error) (d tables.Dead, err error) {
			err = scan(&d.Table, &d.Generation, &d.NotedAt)
			return d, err
		}}
}

// countedBy counts what is one row: where one may be stored twice, by its key.
var countedBy = map[string]string{"products": "uniqExact(product_key)"}

// CountRows counts in one statement. Parts know how many rows they have, so
// little is read.
func (t smallTables) CountRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	return t.count(ctx, account, "0", names)
}

// ReadRows has the server read all columns to add up a number that is thrown away.
func (t smallTables) ReadRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	return t.count(ctx, account, "ifNull(sum(cityHash64(*)), 0)", names)
}

func (t smallTables) count(ctx context.Context, account, reading string, names []string) ([]tables.Count, error) {
	filter := "true"
	if account != "" {
		filter = "account_id = {account:String}"
	}
	selects := make([]string, len(names))
	for i, name := range names {
		counted, special := countedBy[name]
		if !special {
			counted = "count()"
		}
		selects[i] = fmt.Sprintf("SELECT account_id, '%s' AS name, generation, %s AS n, toUInt64(%s) AS content FROM %s WHERE %s GROUP BY account_id, generation", name, counted, reading, name, filter)
	}
	sql := strings.Join(selects, "\nUNION ALL\n") + "\nSETTINGS optimize_aggregation_in_order = 1"
	scanCount := func(scan func(...any) error) (c tables.Count, err error) {
		var content uint64
		err = scan(&c.Account, &c.Table, &c.Generation, &c.Rows, &content)
		return c, err
	}
	if account != "" {
		return collect(ctx, t.at, sql, Params{"account": query.Text(account)}, scanCount)
	}
	var all []tables.Count
	err := t.at.readingAll(ctx, sql, each(func(scan func(...any) error) error {
		c, err := scanCount(scan)
		all = append(all, c)
		return err
	}))
	return all, err
}

// DeleteRows has each server delete the rows of its accounts.
func (t smallTables) DeleteRows(ctx context.Context, deletions []tables.Deletion) error {
	byServer := map[*server][]tables.Deletion{}
	for _, d := range deletions {
		s, err := t.db.holder(ctx, query.Text(d.Account))
		if err != nil {
			return err
		}
		byServer[s] = append(byServer[s], d)
	}
	for _, s := range t.db.shards {
		if err := s.deleteAll(ctx, byServer[s]); err != nil {
			return s.named(err)
		}
	}
	return nil
}

// Now is the time by the clock of the server that has the directory.
func (t smallTables) Now(ctx context.Context) (now time.Time, err error) { return t.db.Now(ctx) }
