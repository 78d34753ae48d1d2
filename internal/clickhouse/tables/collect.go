package tables

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// deleteAll has the server delete rows of generations, in the order of their
// tables. Tables whose last deletion still goes on are left out: what comes
// meanwhile goes together with the next.
func deleteAll(ctx context.Context, s *conn.Server, all []tables.Deletion) error {
	if len(all) == 0 {
		return nil
	}
	busy, err := readDeleting(ctx, s)
	if err != nil || busy[deadTable] {
		return err
	}
	for _, some := range groupDeletions(all) {
		if busy[some[0].Table] {
			continue
		}
		if err := deleteRows(ctx, s, some); err != nil {
			return fmt.Errorf("deleting dead rows of %s: %w", some[0].Table, err)
		}
	}
	return nil
}

// deadTable is the table of what is dead.
const deadTable = "dead_generations"

// readDeleting returns the tables whose last deletion still goes on.
func readDeleting(ctx context.Context, s *conn.Server) (map[string]bool, error) {
	names, err := s.ReadTexts(ctx, "SELECT DISTINCT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done")
	busy := map[string]bool{}
	for _, name := range names {
		busy[name] = true
	}
	return busy, err
}

// Bounds of one statement's length.
const (
	deletedAtOnce  = 10_000
	accountsAtOnce = 100
)

// groupDeletions groups what is dead, sorted by table, into what one statement
// deletes.
func groupDeletions(all []tables.Deletion) [][]tables.Deletion {
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
func deleteRows(ctx context.Context, s *conn.Server, some []tables.Deletion) error {
	params := conn.Params{"table": some[0].Table}
	terms := make([]string, len(some))
	for i, d := range some {
		account, generations := fmt.Sprint("account_", i), fmt.Sprint("dead_", i)
		params[account], params[generations] = query.Text(d.Account), query.Numbers(d.Generations)
		terms[i] = "account_id = {" + account + ":String} AND generation IN {" + generations + ":Array(UInt32)}"
	}
	rows := "(" + strings.Join(terms, " OR ") + ")"
	if err := s.Exec(ctx, "ALTER TABLE "+some[0].Table+" DELETE WHERE "+rows+" SETTINGS mutations_sync = 0", params); err != nil {
		return err
	}
	return s.Exec(ctx, "ALTER TABLE "+deadTable+" DELETE WHERE table_name = {table:String} AND "+rows+" SETTINGS mutations_sync = 0", params)
}
