package copies

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// unreadablePart is a part of a table that has rows of an account and cannot be read: no
// deletion can take them out of it, because it would read the whole part.
type unreadablePart struct {
	table, name string
	shard       *cluster.Shard
	shared      bool // other accounts have rows in it too, or may have
}

// findUnreadable reads all parts with rows of an account of the tables that a restore in
// its place clears, and returns those that cannot be read. It returns an error where the
// account cannot be put right, so that nothing has to be taken back.
func (s Sink) findUnreadable(ctx context.Context, account string) (all []unreadablePart, err error) {
	shown, err := s.Shown(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, table := range append(commits.ClearedTables(), numberBlocks) {
		shard, err := s.cluster.Keeper(ctx, table, query.Text(account))
		if err != nil {
			return nil, err
		}
		found, err := findInTable(ctx, shard, table, account, len(shown) > 1)
		if err != nil {
			return nil, shard.Name(err)
		}
		all = append(all, found...)
	}
	if err := requireUnshared(account, all); err != nil {
		return nil, err
	}
	return all, s.requireDeletable(ctx, account, all)
}

// Faults are those of the inspector, or the parts of tables without seals that loads and
// backups need and that cannot be read: a restore in its place sets them aside, or says why not
// (findUnreadable).
func (s Sink) Faults(ctx context.Context, account string) (faults []string, err error) {
	faults, err = s.Source.Faults(ctx, account)
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	ctx = conn.Inspecting(ctx)
	for _, d := range tables.Unsealed() {
		if d.Directory || d.Backup == tables.Formerly || d.Name != numberBlocks && !slices.Contains(commits.ClearedTables(), d.Name) {
			continue
		}
		shard, err := s.cluster.Keeper(ctx, d.Name, query.Text(account))
		if err != nil {
			return nil, err
		}
		parts, err := findInTable(ctx, shard, d.Name, account, false)
		if err != nil {
			return nil, shard.Name(err)
		}
		for _, p := range parts {
			faults = append(faults, fmt.Sprintf("the part %s of %s cannot be read", p.name, p.table))
		}
	}
	return faults, nil
}

// numberBlocks is the table of the numbers that were given out, which a restore goes on with.
const numberBlocks = "number_blocks"

// findInTable reads the parts of a table until no other has come: a deletion gives new
// names to all, also to those of which it deletes nothing.
func findInTable(ctx context.Context, shard *cluster.Shard, table, account string, others bool) ([]unreadablePart, error) {
	found, read := map[string]unreadablePart{}, map[string]bool{}
	for {
		names, err := shard.ReadTexts(ctx, "SELECT name FROM system.parts WHERE database = currentDatabase() AND active AND table = '"+table+"' ORDER BY name")
		if err != nil {
			return nil, err
		}
		more := false
		for _, name := range names {
			if read[name] {
				continue
			}
			more, read[name] = true, true
			p := unreadablePart{table: table, name: name, shard: shard}
			unreadable, err := p.find(ctx, account, others)
			if err != nil {
				return nil, err
			}
			if unreadable {
				found[name] = p
			}
		}
		if !more {
			maps.DeleteFunc(found, func(name string, _ unreadablePart) bool { return !slices.Contains(names, name) })
			return slices.Collect(maps.Values(found)), nil
		}
	}
}

// requireDeletable refuses to close an account where a deletion of others' rows cannot
// finish: all later ones of the table wait for it.
func (s Sink) requireDeletable(ctx context.Context, account string, own []unreadablePart) error {
	for _, table := range commits.ClearedTables() {
		shard, err := s.cluster.Keeper(ctx, table, query.Text(account))
		if err != nil {
			return err
		}
		stuck, err := shard.ReadTexts(ctx, "SELECT latest_failed_part FROM system.mutations WHERE database = currentDatabase() AND NOT is_done AND latest_fail_reason != '' AND table = '"+table+"'")
		if err != nil {
			return shard.Name(err)
		}
		for _, name := range stuck {
			if !slices.ContainsFunc(own, func(p unreadablePart) bool { return p.table == table && p.name == name }) {
				return fmt.Errorf("account %s cannot be put right where it is yet: an earlier deletion in %s fails, and others wait for it; its part %s cannot be read, or not now (doctor says why): put the account that it is of right first, or %s",
					account, table, name, loader.RestoreElsewhere)
			}
		}
	}
	return nil
}

// find reports whether the part has rows of the account, and cannot be read.
func (p *unreadablePart) find(ctx context.Context, account string, others bool) (bool, error) {
	own := cluster.RowsOf(p.table)
	if has, err := p.hasRows(ctx, account, own); err != nil || !has {
		return false, err
	}
	switch _, err := p.count(ctx, account, "NOT ignore(*)"); {
	case err == nil:
		return false, nil
	case adlens.KindOf(err) != adlens.Damaged:
		return false, err
	}
	if !others {
		return true, nil
	}
	var err error
	p.shared, err = p.hasRows(ctx, account, "NOT ("+own+")")
	return true, err
}

// hasRows reports whether some rows of the part fit, or whether that cannot be read.
func (p *unreadablePart) hasRows(ctx context.Context, account, filter string) (bool, error) {
	rows, err := p.count(ctx, account, filter)
	if adlens.KindOf(err) == adlens.Damaged {
		return true, nil
	}
	return rows > 0, err
}

func (p *unreadablePart) count(ctx context.Context, account, filter string) (rows uint64, err error) {
	// It reads the whole part, and sends nothing meanwhile.
	err = p.shard.Export(ctx, "SELECT count() FROM "+p.table+" WHERE _part = {part:String} AND "+filter, conn.Params{"account": query.Text(account), "part": p.name}, func(scan conn.Scan) error { return scan(&rows) })
	return rows, err
}

// setAside has the server go on without the part, which stays in its directory of
// detached parts.
func (p *unreadablePart) setAside(ctx context.Context) error {
	return p.shard.Name(p.shard.Exec(ctx, "ALTER TABLE "+p.table+" DETACH PART {part:String}", conn.Params{"part": p.name}))
}

// requireUnshared refuses to put an account right where that would take rows of others.
func requireUnshared(account string, all []unreadablePart) error {
	var shared []string
	for _, p := range all {
		if p.table == "commits" || p.table == numberBlocks { // what a restore in its place itself reads
			return fmt.Errorf("account %s cannot be put right where it is: its rows in %s cannot be read; %s", account, p.table, loader.RestoreElsewhere)
		}
		if p.shared {
			shared = append(shared, p.table+" "+p.name)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	return fmt.Errorf("account %s cannot be put right where it is: some of its rows cannot be read, and they are in one file with those of other accounts, which would go with them (%s); %s",
		account, adlens.JoinFew(shared, 3, ", "), loader.RestoreElsewhere)
}
