package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens/internal/backup"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

const (
	// settling is for how long a move waits after the account has its new place:
	// by then every process has asked for it anew.
	settling = 2 * placeLife
	// leaving is for how long a request may still be reading at the old place.
	leaving = 40 * time.Second
)

// held are the tables that are where their account is, but for what its
// generations are in and the notes of what is dead. The manifest and its seal
// come last: what they do not name yet, nobody misses.
var held = []string{"number_blocks", "accounted", "ledger", "commit_units", "commits", "seals"}

// Move brings an account to another shard, and returns how many rows were
// copied. The caller is the account's only writer and stays it. Readers go on:
// they see the account at its old place until all of it, held against the old
// one row by row, is at the new. What a move that was killed has left behind is
// taken away by the next one to the same shard.
func (db *DB) Move(ctx context.Context, account string, to uint16, copied func(rows, kept uint64)) (rows uint64, err error) {
	target, err := db.shard(ctx, to)
	if err != nil {
		return 0, err
	}
	id := query.Text(account)
	from, _, err := db.placements.read(ctx, id)
	if err != nil {
		return 0, err
	}
	if from != to {
		if rows, err = db.moveTo(ctx, account, from, target, copied); err != nil {
			return rows, err
		}
	}
	return rows, db.leave(ctx, account, to)
}

func (db *DB) moveTo(ctx context.Context, account string, from uint16, target *server, copied func(rows, kept uint64)) (rows uint64, err error) {
	if err := target.clear(ctx, account); err != nil {
		return 0, target.named(err)
	}
	there := onShard(ctx, target.number)
	extents, live, err := db.extents(onShard(ctx, from), account)
	if err != nil {
		return 0, err
	}
	for _, e := range extents {
		header, err := db.Columns(ctx, e.Table)
		if err != nil {
			return rows, err
		}
		_, err = backup.Copy(onShard(ctx, from), db, e, header, func(b *backup.Block) error {
			rows += uint64(b.Rows)
			copied(uint64(b.Rows), 0)
			return db.Insert(there, account, e.Table, b)
		})
		if err != nil {
			return rows, fmt.Errorf("copying %s: %w", e.Table, err)
		}
	}
	if err := db.alike(ctx, account, from, target.number, extents); err != nil {
		return rows, err
	}
	faults, err := loader.VerifyAs(there, LoadStore{DB: db}, account, live)
	if err != nil {
		return rows, err
	}
	if len(faults) > 0 {
		return rows, fmt.Errorf("the account stays where it is, because what was copied does not add up: %s", Faults(faults))
	}
	if err := db.stillHeld(account); err != nil {
		return rows, err
	}
	return rows, db.placements.put(ctx, query.Text(account), target.number)
}

// extents are what of an account is moved: the rows of live generations, and
// all rows of the tables without any.
func (db *DB) extents(ctx context.Context, account string) (all []backup.Extent, live manifest.Manifest, err error) {
	if live, err = db.Manifest(ctx, account); err != nil {
		return nil, live, err
	}
	for _, kind := range manifest.Kinds {
		var generations []uint32
		for _, e := range live.Of(kind) {
			generations = append(generations, e.Generation)
		}
		for _, table := range tables.OfKind(kind) {
			for some := range slices.Chunk(generations, deletedAtOnce) {
				all = append(all, backup.Extent{Table: table, Account: account, Generations: some})
			}
		}
	}
	for _, table := range held {
		all = append(all, backup.Extent{Table: table, Account: account})
	}
	return all, live, nil
}

// alike makes sure that two shards have the same rows, column by column.
func (db *DB) alike(ctx context.Context, account string, from, to uint16, extents []backup.Extent) error {
	for _, e := range extents {
		before, err := db.fingerprint(onShard(ctx, from), e)
		if err != nil {
			return err
		}
		after, err := db.fingerprint(onShard(ctx, to), e)
		if err != nil {
			return err
		}
		if before != after {
			return fmt.Errorf("account %s stays where it is, because its rows of %s are not the same at shard %d (%s) as at shard %d (%s)", account, e.Table, to, after, from, before)
		}
	}
	return nil
}

// fingerprint counts rows and adds up a number that each makes of all its
// columns.
func (db *DB) fingerprint(ctx context.Context, e backup.Extent) (string, error) {
	header, err := db.Columns(ctx, e.Table)
	if err != nil {
		return "", err
	}
	s, err := db.keeper(ctx, e.Table, query.Text(e.Account))
	if err != nil {
		return "", err
	}
	sql, params := exported("toString(tuple(count(), sum(sipHash64("+asRow(header)+"))))", e)
	var text string
	err = s.exporting(ctx, sql, params, func(scan func(...any) error) error { return scan(&text) })
	return text, s.named(err)
}

// leave takes what is left of an account away from all shards but its own, once
// nobody reads there any more.
func (db *DB) leave(ctx context.Context, account string, to uint16) error {
	var others []*server
	for _, s := range db.shards {
		if s.number == to {
			continue
		}
		left, err := s.left(ctx, account)
		if err != nil {
			return s.named(err)
		}
		if len(left) > 0 {
			others = append(others, s)
		}
	}
	if len(others) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settling + leaving):
	}
	if err := db.stillHeld(account); err != nil {
		return err
	}
	var failures []error
	for _, s := range others {
		failures = append(failures, s.named(s.clear(ctx, account)))
	}
	return errors.Join(failures...)
}

// leavable are the tables whose rows of an account go when it does: the manifest
// first, so that nothing is missed of what goes after it.
var leavable = slices.Concat([]string{"seals", "commits"}, slices.DeleteFunc(slices.Clone(accountTables), func(table string) bool {
	return table == "commits" || table == "seals" || slices.Contains(directory, table)
}))

// left returns those of them that hold rows of an account.
func (s *server) left(ctx context.Context, account string) ([]string, error) {
	return tablesWith(ctx, s, leavable, account)
}

func (s *server) clear(ctx context.Context, account string) error {
	left, err := s.left(ctx, account)
	if err != nil {
		return err
	}
	for _, table := range left {
		if err := s.clearTable(ctx, table, account); err != nil {
			return err
		}
	}
	return nil
}

// tablesWith returns those of some tables that hold rows of an account, of any
// where it is "".
func tablesWith(ctx context.Context, s *server, tables []string, account string) ([]string, error) {
	looks := make([]string, len(tables))
	for i, table := range tables {
		looks[i] = fmt.Sprintf("SELECT %d AS place, '%s' AS name FROM (SELECT 1 FROM %s WHERE {account:String} = '' OR %s LIMIT 1)", i, table, table, rowsOf(table))
	}
	return collect(ctx, s, "SELECT name FROM ("+strings.Join(looks, "\nUNION ALL\n")+") ORDER BY place", Params{"account": query.Text(account)},
		func(scan func(...any) error) (name string, err error) {
			err = scan(&name)
			return name, err
		})
}

// clearTable takes the rows of an account out of a table, or all rows where it
// is "".
func (s *server) clearTable(ctx context.Context, table, account string) error {
	sql, params := "TRUNCATE TABLE "+table, Params(nil)
	if account != "" {
		sql, params = "ALTER TABLE "+table+" DELETE WHERE "+rowsOf(table), Params{"account": query.Text(account)}
	}
	if err := s.exec(ctx, sql, params); err != nil {
		return fmt.Errorf("clearing %s: %w", table, err)
	}
	return nil
}
