package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adlens/internal/commits"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// deleteAll has the server delete rows of generations, in the order of their
// tables. Tables whose last deletion still goes on are left out: what comes
// meanwhile goes together with the next.
func (s *server) deleteAll(ctx context.Context, all []tables.Deletion) error {
	if len(all) == 0 {
		return nil
	}
	busy, err := s.deleting(ctx)
	if err != nil || busy[notes] {
		return err
	}
	for _, some := range statements(all) {
		if busy[some[0].Table] {
			continue
		}
		if err := s.deleteRows(ctx, some); err != nil {
			return fmt.Errorf("deleting dead rows of %s: %w", some[0].Table, err)
		}
	}
	return nil
}

// notes is the table of what is dead.
const notes = "dead_generations"

// deleting returns the tables whose last deletion still goes on.
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
func statements(all []tables.Deletion) [][]tables.Deletion {
	var grouped [][]tables.Deletion
	room := 0
	for _, d := range all {
		for some := range slices.Chunk(d.Generations, deletedAtOnce) {
			last := len(grouped) - 1
			if last < 0 || grouped[last][0].Table != d.Table || len(grouped[last]) == accountsAtOnce || room < len(some) {
				grouped, room = append(grouped, nil), deletedAtOnce
				last++
			}
			grouped[last] = append(grouped[last], tables.Deletion{Table: d.Table, Account: d.Account, Generations: some})
			room -= len(some)
		}
	}
	return grouped
}

// deleteRows has the server delete rows of one table in its own time. The
// server keeps the order on its disk, so the notes can go too.
func (s *server) deleteRows(ctx context.Context, some []tables.Deletion) error {
	params := Params{"table": some[0].Table}
	terms := make([]string, len(some))
	for i, d := range some {
		account, generations := fmt.Sprint("account_", i), fmt.Sprint("dead_", i)
		params[account], params[generations] = query.Text(d.Account), query.Numbers(d.Generations)
		terms[i] = "account_id = {" + account + ":String} AND generation IN {" + generations + ":Array(UInt32)}"
	}
	rows := "(" + strings.Join(terms, " OR ") + ")"
	if err := s.exec(ctx, "ALTER TABLE "+some[0].Table+" DELETE WHERE "+rows+" SETTINGS mutations_sync = 0", params); err != nil {
		return err
	}
	return s.exec(ctx, "ALTER TABLE "+notes+" DELETE WHERE table_name = {table:String} AND "+rows+" SETTINGS mutations_sync = 0", params)
}

// Unaccounted returns the accounts of which a load is under way or did not end
// well.
func (db *DB) Unaccounted(ctx context.Context) ([]string, error) {
	return commits.Unsettled(ctx, db.Tables())
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
