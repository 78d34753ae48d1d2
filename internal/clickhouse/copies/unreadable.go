package copies

import (
	"context"
	"fmt"
	"strings"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/query"
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
// its place clears, and returns those that cannot be read.
func (s Sink) findUnreadable(ctx context.Context, account string) (all []unreadablePart, err error) {
	shown, err := s.Shown(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, table := range commits.ClearedTables() {
		shard, err := s.cluster.Keeper(ctx, table, query.Text(account))
		if err != nil {
			return nil, err
		}
		names, err := shard.ReadTexts(ctx, "SELECT name FROM system.parts WHERE database = currentDatabase() AND active AND table = '"+table+"'")
		if err != nil {
			return nil, shard.Name(err)
		}
		for _, name := range names {
			p := unreadablePart{table: table, name: name, shard: shard}
			if found, err := p.find(ctx, account, len(shown) > 1); err != nil {
				return nil, shard.Name(err)
			} else if found {
				all = append(all, p)
			}
		}
	}
	return all, nil
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
	err = p.shard.ReadAsOwner(ctx, "SELECT count() FROM "+p.table+" WHERE _part = {part:String} AND "+filter, conn.Params{"account": query.Text(account), "part": p.name}, conn.ScanInto(&rows))
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
		if p.shared {
			shared = append(shared, p.table+" "+p.name)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	return fmt.Errorf("account %s cannot be put right where it is: some of its rows cannot be read, and they are in one file with those of other accounts, which would go with them (%s); nothing was changed; %s",
		account, strings.Join(shared[:min(len(shared), 3)], ", "), loader.RestoreElsewhere)
}
