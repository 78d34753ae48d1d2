package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// Mover brings accounts from one shard to another.
type Mover struct {
	sink Sink
	// Wait returns after a time, or with the error of a context that ends before. Tests
	// replace it.
	Wait func(context.Context, time.Duration) error
}

// NewMover returns the mover of a database.
func NewMover(s Sink) Mover {
	return Mover{s, func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}}
}

// Move brings an account to another shard, and returns how many rows were
// copied. The caller is the account's only writer and stays it. Readers go on:
// they see the account at its old place until all of it, compared with the
// old row by row, is at the new. What a move that was killed has left behind is
// taken away by the next one to the same shard. Once the account has its new place,
// Move returns later than others have read it, also where its context ends.
func (m Mover) Move(ctx context.Context, account string, to uint16, copied func(rows, kept uint64)) (rows uint64, err error) {
	target, err := m.sink.cluster.Shard(ctx, to)
	if err != nil {
		return 0, err
	}
	from, _, err := m.sink.cluster.Placements().Read(ctx, query.Text(account))
	if err != nil {
		return 0, err
	}
	if from == to {
		if err := directory.SealTable(ctx, m.sink.cluster.Home().Server, "placements"); err != nil { // a move before may have failed before it
			return 0, err
		}
		return 0, m.clearOthers(ctx, account, target, cluster.Settling+commits.Leaving)
	}
	if err := m.makeRoom(ctx, account, from, target); err != nil {
		return 0, err
	}
	if rows, err = m.copyAccount(ctx, account, from, target, copied); err != nil {
		return rows, err
	}
	if err := m.placeAccount(ctx, account, to); err != nil {
		return rows, err
	}
	return rows, m.clearOthers(ctx, account, target, commits.Leaving)
}

// makeRoom takes away what is left of an account where it is going to be. Where that
// has commits, the account was read there, and may still be: a move that was
// interrupted did not wait for the last request. What is there may be the only whole copy.
func (m Mover) makeRoom(ctx context.Context, account string, from uint16, target *cluster.Shard) error {
	current, err := m.sink.cluster.Shard(ctx, from)
	if err != nil {
		return err
	}
	left, err := m.requireNoneNewer(ctx, account, current, target)
	if err == nil && left > 0 {
		if err = m.requireWhole(ctx, account, current); err == nil {
			err = m.Wait(ctx, cluster.Settling+commits.Leaving)
		}
	}
	if err != nil {
		return err
	}
	return target.Name(target.ClearTables(ctx, tables.OfShards(), account, m.requireHeld(account)))
}

// requireNoneNewer makes sure that no other shard has a newer commit of an account than
// the one that it is on: a load that came there is nowhere else. newest is the newest
// commit of the others, 0 for none.
func (m Mover) requireNoneNewer(ctx context.Context, account string, current *cluster.Shard, others ...*cluster.Shard) (newest uint32, err error) {
	here, err := smalltables.NewestCommit(ctx, current, account)
	if err != nil {
		return 0, err
	}
	for _, s := range others {
		there, err := smalltables.NewestCommit(ctx, s, account)
		if err != nil {
			return 0, err
		}
		if there > here {
			return 0, fmt.Errorf("shard %d has a newer load of account %s (commit %d) than shard %d (commit %d), where the account is: nothing was deleted; load the newest files of the account again, and repeat the move once shard %d has them",
				s.Number, account, there, current.Number, here, current.Number)
		}
		newest = max(newest, there)
	}
	return newest, nil
}

// placeAccount has the account read at its new place from now on. Whatever becomes of that and
// of the context, the lock is kept until every process has read the place again: one
// that still believes the old one would load there.
func (m Mover) placeAccount(ctx context.Context, account string, to uint16) error {
	if err := m.sink.cluster.RequireHeld(account); err != nil {
		return err
	}
	err := m.sink.cluster.Placements().Move(ctx, account, to)
	return errors.Join(err, m.Wait(context.WithoutCancel(ctx), cluster.Settling))
}

func (m Mover) copyAccount(ctx context.Context, account string, from uint16, target *cluster.Shard, copied func(rows, kept uint64)) (rows uint64, err error) {
	there := cluster.OnShard(ctx, target.Number)
	extents, live, err := m.listExtents(cluster.OnShard(ctx, from), account)
	if err != nil {
		return 0, err
	}
	for _, e := range extents {
		header, err := m.sink.Columns(ctx, e.Table)
		if err != nil {
			return rows, err
		}
		_, err = backup.Copy(cluster.OnShard(ctx, from), m.sink, e, header, func(b *backup.Block) error {
			rows += uint64(b.Rows)
			copied(uint64(b.Rows), 0)
			return m.sink.Insert(there, account, e.Table, b)
		})
		if err != nil {
			return rows, fmt.Errorf("copying %s: %w", e.Table, err)
		}
	}
	if err := m.awaitReaders(ctx, account, from); err != nil {
		return rows, err
	}
	if err := m.requireAlike(ctx, account, from, target.Number, extents); err != nil {
		return rows, err
	}
	if err := m.requireUnchanged(ctx, account, live, from, target.Number); err != nil {
		return rows, err
	}
	faults, err := loader.VerifyAs(there, m.sink.loads, account, live)
	if err != nil {
		return rows, err
	}
	if len(faults) > 0 {
		return rows, fmt.Errorf("the account stays where it is, because what was copied does not add up: %s", commits.Summary(faults))
	}
	return rows, nil
}

// committing is how long after its own time a commit may become visible: its insert, and
// the repetition of that, each wait a minute for the quorum of replicas.
const committing = 2 * time.Minute

// awaitReaders returns once no request reads what a commit of an account superseded: that
// is not copied, and a request that began before the commit would find it nowhere else
// once the account has its new place.
func (m Mover) awaitReaders(ctx context.Context, account string, from uint16) error {
	current, err := m.sink.cluster.Shard(ctx, from)
	if err != nil {
		return err
	}
	recent, err := smalltables.CommittedWithin(ctx, current, account, committing+commits.Leaving)
	if err == nil && recent {
		err = m.Wait(ctx, commits.Leaving)
	}
	return err
}

// listExtents returns what of an account is moved: the rows of live generations, and
// all rows of the tables without any.
func (m Mover) listExtents(ctx context.Context, account string) (all []backup.Extent, live manifest.Manifest, err error) {
	if live, err = m.sink.port.Manifest(ctx, account); err != nil {
		return nil, live, err
	}
	for _, kind := range manifest.Kinds {
		var generations []uint32
		for _, e := range live.Of(kind) {
			generations = append(generations, e.Generation)
		}
		for _, table := range tables.OfKind(kind) {
			for some := range slices.Chunk(generations, smalltables.DeletedAtOnce) {
				all = append(all, backup.Extent{Table: table, Account: account, Generations: some})
			}
		}
	}
	// The manifest and its seal come last: what they do not name yet is not missed.
	moved := tables.Names(func(d tables.Description) bool { return d.Moves })
	slices.Reverse(moved)
	for _, table := range moved {
		all = append(all, backup.Extent{Table: table, Account: account})
	}
	return all, live, nil
}

// requireAlike makes sure that two shards have the same rows, column by column.
func (m Mover) requireAlike(ctx context.Context, account string, from, to uint16, extents []backup.Extent) error {
	for _, e := range extents {
		before, err := m.readFingerprint(cluster.OnShard(ctx, from), e)
		if err != nil {
			return err
		}
		after, err := m.readFingerprint(cluster.OnShard(ctx, to), e)
		if err != nil {
			return err
		}
		if before != after {
			return fmt.Errorf("account %s stays where it is, because its rows of %s are not the same at shard %d (%s) as at shard %d (%s)", account, e.Table, to, after, from, before)
		}
	}
	return nil
}

// requireUnchanged makes sure that shards name as live what was copied: what a loader had
// sent before it was killed may have come since, and be copied with the record of commits.
func (m Mover) requireUnchanged(ctx context.Context, account string, copied manifest.Manifest, shards ...uint16) error {
	for _, number := range shards {
		now, err := m.sink.port.Manifest(cluster.OnShard(ctx, number), account)
		if err != nil {
			return err
		}
		if now.Version != copied.Version {
			return fmt.Errorf("account %s stays where it is, because shard %d has another load of it (commit %d) than was copied (commit %d); repeat the move", account, number, now.Version, copied.Version)
		}
	}
	return nil
}

// readFingerprint counts rows and adds up a number that each makes of all its
// columns.
func (m Mover) readFingerprint(ctx context.Context, e backup.Extent) (string, error) {
	header, err := m.sink.Columns(ctx, e.Table)
	if err != nil {
		return "", err
	}
	s, err := m.sink.cluster.Keeper(ctx, e.Table, query.Text(e.Account))
	if err != nil {
		return "", err
	}
	sql, params := selectExtent("toString(tuple(count(), sum(sipHash64("+asRow(header)+"))))", e)
	var text string
	err = s.Export(ctx, sql, params, func(scan conn.Scan) error { return scan(&text) })
	return text, s.Name(err)
}

// clearOthers takes what is left of an account away from all shards but its own, once
// no request reads there any more, and what its own has is all and right: of rows that an
// earlier attempt had sent, some may have come since they were compared.
func (m Mover) clearOthers(ctx context.Context, account string, own *cluster.Shard, leaving time.Duration) error {
	var others []*cluster.Shard
	for _, s := range m.sink.cluster.Shards() {
		if s == own {
			continue
		}
		left, err := s.TablesWith(ctx, tables.OfShards(), account)
		if err != nil {
			return s.Name(err)
		}
		if len(left) > 0 {
			others = append(others, s)
		}
	}
	if len(others) == 0 {
		return nil
	}
	if err := m.Wait(ctx, leaving); err != nil {
		return err
	}
	if _, err := m.requireNoneNewer(ctx, account, own, others...); err != nil {
		return err
	}
	if err := m.requireWhole(ctx, account, own); err != nil {
		return err
	}
	var failures []error
	for _, s := range others {
		failures = append(failures, s.Name(s.ClearTables(ctx, tables.OfShards(), account, m.requireHeld(account))))
	}
	return errors.Join(failures...)
}

// requireWhole makes sure that what an account's shard has of it is all and right, before
// anything of it is deleted elsewhere.
func (m Mover) requireWhole(ctx context.Context, account string, own *cluster.Shard) error {
	faults, err := loader.Verify(cluster.OnShard(ctx, own.Number), m.sink.loads, account)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("what other shards have of account %s was not deleted, because what shard %d has does not add up: %s; restore the account from a backup: adlens restore --from PLACE --account %s",
			account, own.Number, commits.Summary(faults), account)
	}
	return err
}

// requireHeld returns the look whether an account's lock is held.
func (m Mover) requireHeld(account string) func() error {
	return func() error { return m.sink.cluster.RequireHeld(account) }
}
