package copies

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/clickhouse/loads"
	"adlens/internal/clickhouse/schema"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

var _ backup.Sink = Sink{}

// AccountLister reads the accounts that are in a database.
type AccountLister interface {
	Accounts(ctx context.Context) ([]adlens.Account, error)
}

// Sink is a database into which a backup is restored.
type Sink struct {
	Source
	AccountLister
	loads loads.Store
}

// NewSink returns a database as restores write it.
func NewSink(s Source, a AccountLister, l loads.Store) Sink { return Sink{s, a, l} }

// Place chooses where the rows of an account will be, before the first.
func (s Sink) Place(ctx context.Context, account string) error {
	return s.cluster.Placements().Place(ctx, account)
}

// HasLoads reports whether a server has loads of an account.
func (s Sink) HasLoads(ctx context.Context, account string) (bool, error) {
	last, err := s.lastLoads(ctx, account)
	return slices.ContainsFunc(last, func(number uint32) bool { return number > 0 }), err
}

// lastLoads are the numbers of an account's last loads at each server, 0 for none.
func (s Sink) lastLoads(ctx context.Context, account string) ([]uint32, error) {
	return cluster.Gather(ctx, s.cluster, func(s *cluster.Shard) (uint32, error) {
		last, err := smalltables.LastWrites(conn.Inspecting(ctx), s, account)
		return last[account], err
	})
}

// Recall places an account that the directory does not know any more where its newest load is,
// and of shards that have the same, as a move leaves them that was interrupted, where it is
// whole.
func (s Sink) Recall(ctx context.Context, account string) error {
	last, err := s.lastLoads(ctx, account)
	if err != nil || len(last) == 1 {
		return err
	}
	newest := slices.Max(last)
	at := slices.Index(last, newest)
	if slices.Contains(last[at+1:], newest) {
		if at, err = s.findWhole(ctx, account, last, newest); err != nil {
			return err
		}
	}
	return s.cluster.Placements().Put(ctx, account, s.cluster.Shards()[at])
}

// findWhole finds the first server with an account's last load where all adds up.
func (s Sink) findWhole(ctx context.Context, account string, last []uint32, newest uint32) (at int, err error) {
	for at, shard := range s.cluster.Shards() {
		if last[at] != newest {
			continue
		}
		faults, err := loader.Verify(cluster.OnShard(ctx, shard.Number), s.loads, account)
		if err != nil && adlens.KindOf(err) != adlens.Damaged {
			return 0, shard.Name(err)
		}
		if err == nil && len(faults) == 0 {
			return at, nil
		}
	}
	return 0, fmt.Errorf("the newest load of account %s is on several shards, and whole on none: nothing was changed; restore the whole backup into a new data directory or database", account)
}

// clearedTables are those of a shard whose rows a repeated restore takes away. The
// numbers that were given out stay: it takes others.
func clearedTables() []string {
	return tables.Names(func(d tables.Description) bool { return !d.Directory && d.InPlace != tables.Merged })
}

// Left returns the tables that hold rows of an account which Clear takes away; of any
// for "". A place that was chosen for an account which then was not made is none.
func (s Sink) Left(ctx context.Context, account string) ([]string, error) {
	return s.leftAt(ctx, account, s.cluster.Everywhere)
}

// LeftUnknown is Left of an account of which no restore is noted. A shard that is away keeps
// none from being added to the others, and what a server that runs counts or requests for
// an account whose rows are gone is no reason either.
func (s Sink) LeftUnknown(ctx context.Context, account string) ([]string, error) {
	left, err := s.leftAt(ctx, account, func(ctx context.Context, do func(*cluster.Shard) error) error {
		return s.cluster.WhereReachable(ctx, func(shard *cluster.Shard) error {
			if err := do(shard); adlens.KindOf(err) != adlens.Damaged { // of another account, which is reported of the shard
				return err
			}
			return nil
		})
	})
	return slices.DeleteFunc(left, func(table string) bool {
		d, _ := tables.Find(table)
		return d.Directory && !d.Sealed
	}), err
}

func (s Sink) leftAt(ctx context.Context, account string, at func(context.Context, func(*cluster.Shard) error) error) ([]string, error) {
	all, err := s.cluster.Home().TablesWith(ctx, tables.OfDirectory(), account)
	if i := slices.Index(all, "directory_seals"); err == nil && i >= 0 {
		var others uint64
		others, err = conn.Value[uint64](ctx, s.cluster.Home(), "SELECT count() FROM directory_seals WHERE table_name != 'placements' AND {account:String} IN ('', account_id)", conn.Params{"account": query.Text(account)})
		if others == 0 {
			all = slices.Delete(all, i, i+1)
		}
	}
	if err != nil {
		return nil, err
	}
	var adding sync.Mutex
	err = at(ctx, func(s *cluster.Shard) error {
		left, err := s.TablesWith(ctx, clearedTables(), account)
		adding.Lock()
		defer adding.Unlock()
		all = append(all, left...)
		return err
	})
	slices.Sort(all)
	return slices.Compact(all), err
}

// The note of what is being restored is a table of its own, which is there
// while something is. Rows are deleted only where it says that they were
// written by a restore.
const createRestoring = `CREATE TABLE IF NOT EXISTS restoring (
    account_id String,
    backup String
) ENGINE = MergeTree
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`

// makeNotes makes the table of what is being restored.
func (s Sink) makeNotes(ctx context.Context) error {
	return schema.CreateTable(ctx, s.cluster.Home().Server, createRestoring)
}

// Began says which backup is noted as being restored, of the account or of all.
func (s Sink) Began(ctx context.Context, account string) (id string, err error) {
	if err := s.makeNotes(ctx); err != nil {
		return "", err
	}
	s.cluster.CatchUp()
	return s.Noted(ctx, account)
}

// Noted is Began for those who only look: it makes no table.
func (s Sink) Noted(ctx context.Context, account string) (id string, err error) {
	err = s.cluster.Home().Read(ctx, "SELECT max(backup) FROM restoring WHERE {account:String} = '' OR account_id IN ('', {account:String})", conn.Params{"account": query.Text(account)},
		conn.ScanInto(&id))
	if conn.IsUnknown(err) {
		return "", nil
	}
	return id, err
}

// Begin notes that a backup is being restored.
func (s Sink) Begin(ctx context.Context, account, id string) error {
	if err := s.forgetNotes(ctx, account); err != nil {
		return err
	}
	if err := s.makeNotes(ctx); err != nil {
		return err
	}
	return s.cluster.Home().Insert(ctx, "INSERT INTO restoring (account_id, backup)", func(batch conn.Batch) error { return batch.Append(account, id) })
}

// Done takes the note of an account away, or all notes. Until then rows may not be
// sealed: a restore that was killed, and this one goes on with, inserted or placed them.
func (s Sink) Done(ctx context.Context, account string) error {
	if err := directory.SealAll(ctx, s.cluster.Home().Server); err != nil {
		return err
	}
	return s.forgetNotes(ctx, account)
}

func (s Sink) forgetNotes(ctx context.Context, account string) error {
	return s.cluster.Home().Exec(ctx, "ALTER TABLE restoring DELETE WHERE {account:String} = '' OR account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

// Clear takes away all rows of an account, or all rows, but for the numbers that were
// given out. Where all go, nothing of them was ever visible. It stops where another
// restore has taken over.
func (s Sink) Clear(ctx context.Context, account, lock string) error {
	before := func() error { return s.cluster.RequireHeld(lock) }
	home := s.cluster.Home()
	if err := home.Announce(conn.Directory, func() error { return home.ClearTables(ctx, tables.OfDirectory(), account, before) }); err != nil {
		return err
	}
	return s.cluster.Everywhere(ctx, func(s *cluster.Shard) error { return s.ClearTables(ctx, clearedTables(), account, before) })
}

// Insert writes the rows of a block, in columns as the server gets them. The lock is looked at
// once the server has taken the statement, which waits for the rows no longer than the lock
// lives then: those of a process that stood still would come when another one has written
// them too.
func (s Sink) Insert(ctx context.Context, account, table string, block *backup.Block) error {
	shard, err := s.cluster.Keeper(ctx, table, query.Text(account))
	if err != nil {
		return err
	}
	names := make([]string, len(block.Header))
	for i, c := range block.Header {
		names[i] = conn.QuoteIdentifier(c.Name)
	}
	insert := func() error {
		err := shard.Insert(conn.Promptly(ctx, cluster.HeldFor), "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")", func(batch conn.Batch) error {
			if err := s.cluster.RequireHeld(account); err != nil {
				return err
			}
			for i, c := range block.Header {
				if err := appendColumn(batch, block, i); err != nil {
					return fmt.Errorf("column %s: %w", c.Name, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return directory.SealTable(ctx, shard.Server, table)
	}
	if !slices.Contains(tables.OfDirectory(), table) {
		return insert()
	}
	if err := shard.Announce(conn.Directory, insert); err != nil || table != "accounts" {
		return err
	}
	return s.cluster.RememberIdentity()
}

// appendColumn fills a column. One with a dictionary is built by the driver.
func appendColumn(batch conn.Batch, block *backup.Block, i int) error {
	if block.Header[i].Words {
		return batch.Column(i).Append(block.Words(i))
	}
	return conn.DecodeColumn(batch, i, block.Native(i), block.Rows)
}

// derivedAtOnce is how many generations one statement derives rollups of: it
// holds their products in memory.
const derivedAtOnce = 32

// Complete derives the products of months and years, and verifies everything
// against the manifest.
func (s Sink) Complete(ctx context.Context, account string, m manifest.Manifest, before func(context.Context) error) ([]string, error) {
	for some := range slices.Chunk(m.Of(manifest.Month), derivedAtOnce) {
		if err := s.deriveTotals(ctx, account, some, nil, before); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(loader.PartsOf(m.Of(manifest.Year), m.Of(manifest.Month)), max(1, derivedAtOnce/12)) {
		if err := s.deriveTotals(ctx, account, nil, some, before); err != nil {
			return nil, err
		}
	}
	return loader.VerifyRestored(ctx, s.loads, account, m)
}

func (s Sink) deriveTotals(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts, before func(context.Context) error) error {
	if err := s.cluster.RequireHeld(account); err != nil {
		return err
	}
	if err := before(ctx); err != nil {
		return err
	}
	return s.loads.DeriveTotals(ctx, account, months, years)
}

// RequireHeld fails where a lock may have been lost.
func (s Sink) RequireHeld(name string) error { return s.cluster.RequireHeld(name) }

// Reserve reserves the numbers of a restored account, the greatest for its commit.
func (s Sink) Reserve(ctx context.Context, account string, generations int) (number uint32, err error) {
	return commits.Leap(ctx, s.port, account, rand.Text(), generations)
}

// Publish makes the live units of a restored account visible by one commit that
// builds on nothing.
func (s Sink) Publish(ctx context.Context, account string, live *backup.Block, number uint32) error {
	if live.Former() {
		return s.publishFormer(ctx, account, live)
	}
	if err := s.Insert(ctx, account, backup.UnitTable, live); err != nil {
		return err
	}
	return commits.PublishRestored(ctx, s.port, account, number)
}

// publishFormer puts live units where they were before there were commits, and
// has the schema's own step take them over.
func (s Sink) publishFormer(ctx context.Context, account string, live *backup.Block) error {
	if err := s.Insert(ctx, account, "manifest", live); err != nil {
		return err
	}
	if err := s.cluster.RequireHeld(account); err != nil {
		return err
	}
	shard, err := s.cluster.Holder(ctx, query.Text(account))
	if err != nil {
		return err
	}
	if err := s.cluster.Announce(account, func() error { return schema.TakeOver(ctx, shard.Server, manifest.Closed) }); err != nil {
		return err
	}
	number, err := s.Reserve(ctx, account, 0)
	if err != nil {
		return err
	}
	return commits.SettleRestored(ctx, s.port, account, number)
}
