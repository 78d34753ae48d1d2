// Package moves brings accounts from one shard to another while they are read, and finds where
// each is. It decides; what it needs of the shards is a port, so that the same rules run on a
// cluster (internal/clickhouse) and on a model of one (internal/simulation).
package moves

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Shards is the servers of a database, as a move needs them. Where an account is, is noted at
// one of them; the rows of an account at a shard are there whatever that note says.
type Shards interface {
	// Numbers returns the numbers of all shards.
	Numbers() []uint16
	// RequireShard fails where there is no shard of a number, or it does not answer.
	RequireShard(ctx context.Context, shard uint16) error

	// Place reads on which shard an account is now.
	Place(ctx context.Context, account string) (shard uint16, err error)
	// SetPlace has an account on another shard. It fails, and writes nothing, where the
	// account's lock may end before that.
	SetPlace(ctx context.Context, account string, shard uint16) error
	// SealPlaces has a later loss of places noticed.
	SealPlaces(ctx context.Context) error
	// RequireHeld fails where the account's lock may have been lost.
	RequireHeld(account string) error

	// FenceOff has no commit become live at a shard any more that a writer has under way which
	// had the account's lock before.
	FenceOff(ctx context.Context, shard uint16, account string) error
	// NewestCommit returns the number of the last load or restore of an account that a shard
	// has, 0 for none.
	NewestCommit(ctx context.Context, shard uint16, account string) (uint32, error)
	// CommittedWithin reports whether a shard took a commit of an account within a time, by
	// its own clock.
	CommittedWithin(ctx context.Context, shard uint16, account string, within time.Duration) (bool, error)
	// Manifest returns what a shard has as live of an account.
	Manifest(ctx context.Context, shard uint16, account string) (manifest.Manifest, error)
	// Faults compares all that a shard has of an account with what is live there, or, where it
	// is not nil, with what is going to be.
	Faults(ctx context.Context, shard uint16, account string, live *manifest.Manifest) ([]string, error)
	// Fingerprint returns what two shards have in common that have the same rows.
	Fingerprint(ctx context.Context, shard uint16, e backup.Extent) (string, error)

	// Left returns the tables of which a shard has rows of an account, in the order of
	// tables.OfShards.
	Left(ctx context.Context, shard uint16, account string) ([]string, error)
	// HeldUntil returns until when the account's lock is held at least, as a shard tells time.
	// It fails where the lock may have been lost.
	HeldUntil(ctx context.Context, shard uint16, account string) (Deadline, error)
	// Clear deletes the rows of an account from one table of a shard. It fails, and deletes
	// nothing, where the shard takes the statement later than the deadline: a process that
	// stood still may send it when another one has moved the account back.
	Clear(ctx context.Context, shard uint16, account, table string, until Deadline) error
	// Copy copies rows to another shard, as long as the account's lock is held. copied hears
	// how many were read, before they are written.
	Copy(ctx context.Context, from, to uint16, e backup.Extent, copied func(rows uint64)) error
}

// Deadline is a moment as a server tells time: by its clock, which may be set back, and by how
// long it has been running, which begins once more when it is restarted. It has passed where
// either says so, or where the server runs for less than it did when the deadline was set.
type Deadline struct {
	Clock          time.Time
	Since, Running time.Duration // how long the server had been running then, and will have been
}

// Mover brings accounts from one shard to another.
type Mover struct {
	shards Shards
	// Wait returns after a time, or with the error of a context that ends before. Tests
	// replace it.
	Wait func(context.Context, time.Duration) error
}

// NewMover returns the mover of a database.
func NewMover(s Shards) Mover {
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
	if err := m.shards.RequireShard(ctx, to); err != nil {
		return 0, err
	}
	from, err := m.shards.Place(ctx, account)
	if err != nil {
		return 0, err
	}
	if from == to {
		if err := m.shards.SealPlaces(ctx); err != nil { // a move before may have failed before it
			return 0, err
		}
		return 0, m.clearOthers(ctx, account, to, Settling+commits.Leaving)
	}
	if err := m.makeRoom(ctx, account, from, to); err != nil {
		return 0, err
	}
	if rows, err = m.copyAccount(ctx, account, from, to, copied); err != nil {
		return rows, err
	}
	if err := m.placeAccount(ctx, account, to); err != nil {
		return rows, err
	}
	return rows, m.clearOthers(ctx, account, to, commits.Leaving)
}

// makeRoom takes away what is left of an account where it is going to be. Where that
// has commits, the account was read there, and may still be: a move that was
// interrupted did not wait for the last request. What is there may be the only whole copy.
func (m Mover) makeRoom(ctx context.Context, account string, from, to uint16) error {
	if err := m.shards.RequireShard(ctx, from); err != nil {
		return err
	}
	left, err := m.requireNoneNewer(ctx, account, from, to)
	if err == nil && left > 0 {
		if err = m.requireWhole(ctx, account, from); err == nil {
			err = m.Wait(ctx, Settling+commits.Leaving)
		}
	}
	if err != nil {
		return err
	}
	return m.clearShard(ctx, account, to)
}

// requireNoneNewer makes sure that no other shard has a newer commit of an account than
// the one that it is on: a load that came there is nowhere else. newest is the newest
// commit of the others, 0 for none.
func (m Mover) requireNoneNewer(ctx context.Context, account string, current uint16, others ...uint16) (newest uint32, err error) {
	here, err := m.shards.NewestCommit(ctx, current, account)
	if err != nil {
		return 0, err
	}
	for _, other := range others {
		there, err := m.shards.NewestCommit(ctx, other, account)
		if err != nil {
			return 0, err
		}
		if there > 0 && here == 0 { // an older copy of a disk was put back
			return 0, fmt.Errorf("shard %d has loads of account %s (commit %d), and shard %d, where the account is, has none: nothing was deleted; restore the account from a backup, adlens restore --from PLACE --account %s; or, where none has it, adlens account move %s --shard %d --lost takes what shard %d has",
				other, account, there, current, account, account, other, other)
		}
		if there > here {
			return 0, fmt.Errorf("shard %d has a newer load of account %s (commit %d) than shard %d (commit %d), where the account is: nothing was deleted; load the newest files of the account again, and repeat the move once shard %d has them",
				other, account, there, current, here, current)
		}
		newest = max(newest, there)
	}
	return newest, nil
}

// placeAccount has the account read at its new place from now on. Whatever becomes of that and
// of the context, the lock is kept until every process has read the place again: one
// that still believes the old one would load there.
func (m Mover) placeAccount(ctx context.Context, account string, to uint16) error {
	if err := m.shards.RequireHeld(account); err != nil {
		return err
	}
	err := m.shards.SetPlace(ctx, account, to)
	return errors.Join(err, m.Wait(context.WithoutCancel(ctx), Settling))
}

func (m Mover) copyAccount(ctx context.Context, account string, from, to uint16, copied func(rows, kept uint64)) (rows uint64, err error) {
	// A commit of a writer that stood still until its lock had ended could become live once the
	// copy was compared, be reported as loaded, and stay behind.
	if err := m.shards.FenceOff(ctx, from, account); err != nil {
		return 0, err
	}
	extents, live, err := m.listExtents(ctx, account, from)
	if err != nil {
		return 0, err
	}
	for _, e := range extents {
		err := m.shards.Copy(ctx, from, to, e, func(some uint64) {
			rows += some
			copied(some, 0)
		})
		if err != nil {
			// The shard may still write what it was sent: the rows of another move, which could
			// begin at once, would be doubled.
			return rows, errors.Join(fmt.Errorf("copying %s: %w", e.Table, err), m.Wait(context.WithoutCancel(ctx), commits.Leaving))
		}
	}
	if err := m.awaitReaders(ctx, account, from); err != nil {
		return rows, err
	}
	if err := m.requireAlike(ctx, account, from, to, extents); err != nil {
		return rows, err
	}
	if err := m.requireUnchanged(ctx, account, live, from, to); err != nil {
		return rows, err
	}
	faults, err := m.shards.Faults(ctx, to, account, &live)
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
	recent, err := m.shards.CommittedWithin(ctx, from, account, committing+commits.Leaving)
	if err == nil && recent {
		err = m.Wait(ctx, commits.Leaving)
	}
	return err
}

// generationsAtOnce is how many generations an extent names at most: they are in the text of
// its statements.
const generationsAtOnce = 10_000

// listExtents returns what of an account is moved: the rows of live generations, and
// all rows of the tables without any.
func (m Mover) listExtents(ctx context.Context, account string, from uint16) (all []backup.Extent, live manifest.Manifest, err error) {
	if live, err = m.shards.Manifest(ctx, from, account); err != nil {
		return nil, live, err
	}
	for _, kind := range manifest.Kinds {
		var generations []uint32
		for _, e := range live.Of(kind) {
			generations = append(generations, e.Generation)
		}
		for _, table := range tables.OfKind(kind) {
			for some := range slices.Chunk(generations, generationsAtOnce) {
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
		before, err := m.shards.Fingerprint(ctx, from, e)
		if err != nil {
			return err
		}
		after, err := m.shards.Fingerprint(ctx, to, e)
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
	for _, shard := range shards {
		now, err := m.shards.Manifest(ctx, shard, account)
		if err != nil {
			return err
		}
		if now.Version != copied.Version {
			return fmt.Errorf("account %s stays where it is, because shard %d has another load of it (commit %d) than was copied (commit %d); repeat the move", account, shard, now.Version, copied.Version)
		}
	}
	return nil
}

// clearOthers takes what is left of an account away from all shards but its own, once
// no request reads there any more, and what its own has is all and right: of rows that an
// earlier attempt had sent, some may have come since they were compared.
func (m Mover) clearOthers(ctx context.Context, account string, own uint16, leaving time.Duration) error {
	var others []uint16
	for _, shard := range m.shards.Numbers() {
		if shard == own {
			continue
		}
		left, err := m.shards.Left(ctx, shard, account)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			others = append(others, shard)
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
	for _, shard := range others {
		failures = append(failures, m.clearShard(ctx, account, shard))
	}
	return errors.Join(failures...)
}

// requireWhole makes sure that what an account's shard has of it is all and right, before
// anything of it is deleted elsewhere.
func (m Mover) requireWhole(ctx context.Context, account string, own uint16) error {
	faults, err := m.shards.Faults(ctx, own, account, nil)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("what other shards have of account %s was not deleted, because what shard %d has does not add up: %s; restore the account from a backup: adlens restore --from PLACE --account %s",
			account, own, commits.Summary(faults), account)
	}
	return err
}

// clearShard deletes what a shard has of an account, each table only while the lock is held.
// Where that fails, the lock is kept until the shard takes the statement no more: one that is
// still under way could delete rows of another move, which could begin at once.
func (m Mover) clearShard(ctx context.Context, account string, shard uint16) error {
	left, err := m.shards.Left(ctx, shard, account)
	if err != nil {
		return err
	}
	for _, table := range left {
		until, err := m.shards.HeldUntil(ctx, shard, account)
		if err != nil {
			return err
		}
		if err := m.shards.Clear(ctx, shard, account, table, until); err != nil {
			return errors.Join(err, m.Wait(context.WithoutCancel(ctx), until.Running-until.Since))
		}
	}
	return nil
}
