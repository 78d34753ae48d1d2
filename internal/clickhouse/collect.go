package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/loader"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// tablesOf are the tables whose rows live and die with a generation of a kind.
var tablesOf = map[manifest.Kind][]string{
	manifest.Month: {"facts", "day_totals", "month_products"}, manifest.Year: {"year_products"},
	manifest.Marketplaces: {"marketplaces"}, manifest.Rates: {"rates"}, manifest.Titles: {"product_titles"},
	manifest.Campaigns: {"campaigns"}, manifest.AdGroups: {"ad_groups"}, manifest.Ads: {"ads"},
	manifest.Rules: {"rules"}, manifest.RuleRuns: {"rule_runs"}, manifest.Activity: {"activity"},
}

// Retire notes the generations that a load has superseded. Where the account
// was accounted for when the load began, it is so again: nothing need be looked
// for.
func (db *DB) Retire(ctx context.Context, account string, r loader.Retired) error {
	if len(r.Dead) > 0 {
		if err := db.noteRetired(ctx, account, r.Dead); err != nil {
			return err
		}
	}
	return db.exec(ctx, `INSERT INTO accounted SELECT {account:String}, {next:UInt32}
FROM (SELECT greatest(max(next), 1) AS known FROM accounted WHERE account_id = {account:String}) WHERE known >= {first:UInt32}`,
		Params{"account": query.Text(account), "first": number(r.First), "next": number(r.Next)})
}

func (db *DB) noteRetired(ctx context.Context, account string, dead []manifest.Entry) error {
	now := time.Now().UTC()
	return db.insert(ctx, account, "INSERT INTO dead_generations (account_id, table_name, generation, found_at)", func(batch driver.Batch) error {
		for _, e := range dead {
			for _, table := range tablesOf[e.Kind] {
				if err := batch.Append(account, table, e.Generation, now); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Unaccounted returns the accounts of which a load is under way or did not end
// well.
func (db *DB) Unaccounted(ctx context.Context) ([]string, error) {
	all, err := gather(ctx, db, func(s *server) ([]string, error) { return unaccounted(ctx, s, "") })
	return slices.Concat(all...), err
}

func unaccounted(ctx context.Context, at querier, account string) ([]string, error) {
	return collect(ctx, at, `SELECT account_id
FROM (SELECT account_id, max(next) AS reserved FROM reservations WHERE ({account:String} = '' OR account_id = {account:String}) GROUP BY account_id) AS r
LEFT JOIN (SELECT account_id, max(next) AS known FROM accounted WHERE ({account:String} = '' OR account_id = {account:String}) GROUP BY account_id) AS a USING account_id
WHERE known < reserved
ORDER BY account_id`, Params{"account": query.Text(account)}, func(scan func(...any) error) (string, error) {
		var id string
		err := scan(&id)
		return id, err
	})
}

// noteDead writes down generations of a table that are not live. The caller
// is the account's only writer, so what is not live now was superseded, or
// left behind by a crash; it will never be live.
const noteDead = `
INSERT INTO dead_generations (account_id, table_name, generation, found_at)
SELECT DISTINCT account_id, {table:String}, generation, now64(3)
FROM %s
WHERE account_id = {account:String}
  AND generation NOT IN (SELECT argMax(generation, version) FROM manifest WHERE account_id = {account:String}
                         GROUP BY kind, marketplace_key, ad_product, start)
  AND generation NOT IN (SELECT generation FROM dead_generations WHERE account_id = {account:String} AND table_name = {table:String})`

// AccountFor looks through all rows of an account for dead ones, where its loads
// did not say what became of every number that they reserved. The caller is the
// account's only writer.
func (db *DB) AccountFor(ctx context.Context, account string) error {
	found, err := unaccounted(ctx, db, account)
	if err != nil || len(found) == 0 {
		return err
	}
	for _, tables := range tablesOf {
		for _, table := range tables {
			if err := db.exec(ctx, fmt.Sprintf(noteDead, table), Params{"account": query.Text(account), "table": table}); err != nil {
				return err
			}
		}
	}
	return db.exec(ctx, "INSERT INTO accounted SELECT account_id, max(next) FROM reservations WHERE account_id = {account:String} GROUP BY account_id",
		Params{"account": query.Text(account)})
}

// batches is how many times longer than needed a load leaves dead rows, so that
// what many loads leave is deleted in one go.
const batches = 4

// Collect notes what of an account is dead and was not noted, and deletes the
// rows of generations that were noted longer ago than after. Deleting goes on
// behind the call.
func (db *DB) Collect(ctx context.Context, account string, after time.Duration) error {
	if err := db.AccountFor(ctx, account); err != nil {
		return err
	}
	s, err := db.holder(ctx, query.Text(account))
	if err != nil {
		return err
	}
	return s.deleteRipe(ctx, account, after, batches*after)
}

// DeleteDead deletes the rows of generations of all accounts that were noted
// longer ago than after.
func (db *DB) DeleteDead(ctx context.Context, after time.Duration) error {
	return db.everywhere(ctx, func(s *server) error { return s.deleteRipe(ctx, "", after, after) })
}

// ripe are the dead generations of tables that no query can still be reading,
// where the first of a table was noted long enough ago.
const ripe = `
SELECT table_name, account_id, groupArray(generation)
FROM (SELECT table_name, account_id, generation, min(found_at) AS noted, min(noted) OVER (PARTITION BY table_name) AS first
      FROM dead_generations
      WHERE ({account:String} = '' OR account_id = {account:String})
      GROUP BY table_name, account_id, generation)
WHERE noted <= now64(3) - {after:UInt32} AND first <= now64(3) - {oldest:UInt32}
GROUP BY table_name, account_id
ORDER BY table_name, account_id`

// dead are generations of an account in one table.
type dead struct {
	table, account string
	generations    []uint32
}

func (s *server) deleteRipe(ctx context.Context, account string, after, oldest time.Duration) error {
	params := Params{"account": query.Text(account), "after": number(uint32(after.Seconds())), "oldest": number(uint32(oldest.Seconds()))}
	all, err := collect(ctx, s, ripe, params, func(scan func(...any) error) (dead, error) {
		var d dead
		err := scan(&d.table, &d.account, &d.generations)
		return d, err
	})
	if err != nil || len(all) == 0 {
		return err
	}
	busy, err := s.deleting(ctx)
	if err != nil || busy[notes] {
		return err
	}
	for _, some := range statements(all) {
		if busy[some[0].table] {
			continue // the next collection takes these too
		}
		if err := s.deleteRows(ctx, some); err != nil {
			return fmt.Errorf("deleting dead rows of %s: %w", some[0].table, err)
		}
	}
	return nil
}

// notes is the table of what is dead.
const notes = "dead_generations"

// deleting returns the tables whose last deletion still goes on. One at a time
// is enough: what comes meanwhile goes together with the next.
func (s *server) deleting(ctx context.Context) (map[string]bool, error) {
	busy := map[string]bool{}
	err := s.inspect(ctx, "SELECT DISTINCT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done", func(table string) {
		busy[table] = true
	})
	return busy, err
}

// Bounds of one statement's length.
const (
	deletedAtOnce  = 10_000
	accountsAtOnce = 100
)

// statements groups what is dead, sorted by table, into what one statement
// deletes.
func statements(all []dead) [][]dead {
	var grouped [][]dead
	room := 0
	for _, d := range all {
		for some := range slices.Chunk(d.generations, deletedAtOnce) {
			last := len(grouped) - 1
			if last < 0 || grouped[last][0].table != d.table || len(grouped[last]) == accountsAtOnce || room < len(some) {
				grouped, room = append(grouped, nil), deletedAtOnce
				last++
			}
			grouped[last] = append(grouped[last], dead{d.table, d.account, some})
			room -= len(some)
		}
	}
	return grouped
}

// deleteRows has the server delete rows of one table in its own time. The
// server keeps the order on its disk, so the notes can go too.
func (s *server) deleteRows(ctx context.Context, some []dead) error {
	params := Params{"table": some[0].table}
	terms := make([]string, len(some))
	for i, d := range some {
		account, generations := fmt.Sprint("account_", i), fmt.Sprint("dead_", i)
		params[account], params[generations] = query.Text(d.account), query.Numbers(d.generations)
		terms[i] = "account_id = {" + account + ":String} AND generation IN {" + generations + ":Array(UInt32)}"
	}
	rows := "(" + strings.Join(terms, " OR ") + ")"
	if err := s.exec(ctx, "ALTER TABLE "+some[0].table+" DELETE WHERE "+rows+" SETTINGS mutations_sync = 0", params); err != nil {
		return err
	}
	return s.exec(ctx, "ALTER TABLE "+notes+" DELETE WHERE table_name = {table:String} AND "+rows+" SETTINGS mutations_sync = 0", params)
}

var _ loader.Store = (*LoadStore)(nil)

// Locker lets one process at a time do a thing that has a name. To write an
// account's data is named like the account.
type Locker interface {
	Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error)
	Try(ctx context.Context, name string) (release func() error, ok bool, err error)
	Held(ctx context.Context, name string) (bool, error)
}

// LoadStore is the database as the loader sees it.
type LoadStore struct {
	*DB
	Locker
}
