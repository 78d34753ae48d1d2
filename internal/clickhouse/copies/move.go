package copies

import (
	"context"
	"crypto/rand"
	"time"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

var _ moves.Shards = shards{}

// shards is the servers of a database as a move needs them.
type shards struct{ sink Sink }

// NewMover returns the mover of a database.
func NewMover(s Sink) moves.Mover { return moves.NewMover(shards{s}) }

func (s shards) Numbers() (all []uint16) {
	for _, shard := range s.sink.cluster.Shards() {
		all = append(all, shard.Number)
	}
	return all
}

func (s shards) RequireShard(ctx context.Context, number uint16) error {
	_, err := s.sink.cluster.Shard(ctx, number)
	return err
}

func (s shards) Place(ctx context.Context, account string) (uint16, error) {
	number, _, err := s.sink.cluster.Placements().Read(ctx, query.Text(account))
	return number, err
}

// SetPlace notes before that the account has loads, where it has: a copy of the new shard's disk
// may be older.
func (s shards) SetPlace(ctx context.Context, account string, number uint16) error {
	newest, err := s.NewestCommit(ctx, number, account)
	if err == nil && newest > 0 {
		err = directory.NoteLoaded(ctx, s.sink.cluster.Home().Server, account)
	}
	if err != nil {
		return err
	}
	return s.sink.cluster.Placements().Move(ctx, account, number)
}

func (s shards) SealPlaces(ctx context.Context) error {
	return directory.SealTable(ctx, s.sink.cluster.Home().Server, "placements")
}

func (s shards) RequireHeld(account string) error { return s.sink.cluster.RequireHeld(account) }

func (s shards) FenceOff(ctx context.Context, number uint16, account string) error {
	return commits.FenceOff(cluster.OnShard(ctx, number), s.sink.port, account, rand.Text())
}

func (s shards) NewestCommit(ctx context.Context, number uint16, account string) (uint32, error) {
	shard, err := s.sink.cluster.Shard(ctx, number)
	if err != nil {
		return 0, err
	}
	return smalltables.NewestCommit(ctx, shard, account)
}

func (s shards) CommittedWithin(ctx context.Context, number uint16, account string, within time.Duration) (bool, error) {
	shard, err := s.sink.cluster.Shard(ctx, number)
	if err != nil {
		return false, err
	}
	return smalltables.CommittedWithin(ctx, shard, account, within)
}

func (s shards) Manifest(ctx context.Context, number uint16, account string) (manifest.Manifest, error) {
	return s.sink.port.Manifest(cluster.OnShard(ctx, number), account)
}

func (s shards) Faults(ctx context.Context, number uint16, account string, live *manifest.Manifest) ([]string, error) {
	there := cluster.OnShard(ctx, number)
	if live == nil {
		return loader.Verify(there, s.sink.loads, account)
	}
	return loader.VerifyAs(there, s.sink.loads, account, *live)
}

// Fingerprint counts rows and adds up a number that each makes of all its
// columns.
func (s shards) Fingerprint(ctx context.Context, number uint16, e backup.Extent) (string, error) {
	header, err := s.sink.Columns(ctx, e.Table)
	if err != nil {
		return "", err
	}
	shard, err := s.sink.cluster.Shard(ctx, number)
	if err != nil {
		return "", err
	}
	sql, params := selectExtent("toString(tuple(count(), sum(sipHash64("+asRow(header)+"))))", e)
	var text string
	err = shard.Export(ctx, sql, params, func(scan conn.Scan) error { return scan(&text) })
	return text, shard.Name(err)
}

// Left finds nothing at another server in the place of a shard.
func (s shards) Left(ctx context.Context, number uint16, account string) ([]string, error) {
	shard, err := s.sink.cluster.Shard(ctx, number)
	if conn.IsRefusal(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := shard.TablesWith(ctx, tables.OfShards(), account)
	return left, shard.Name(err)
}

func (s shards) HeldUntil(ctx context.Context, number uint16, account string) (moves.Deadline, error) {
	shard, err := s.sink.cluster.Shard(ctx, number)
	if err != nil {
		return moves.Deadline{}, err
	}
	return shard.HeldUntil(ctx, account)
}

func (s shards) Clear(ctx context.Context, number uint16, account, table string, until moves.Deadline) error {
	shard, err := s.sink.cluster.Shard(ctx, number)
	if err != nil {
		return err
	}
	return shard.Name(shard.ClearTableUntil(ctx, table, account, until))
}

func (s shards) Copy(ctx context.Context, from, to uint16, e backup.Extent, copied func(rows uint64)) error {
	header, err := s.sink.Columns(ctx, e.Table)
	if err != nil {
		return err
	}
	_, err = backup.Copy(cluster.OnShard(ctx, from), s.sink, e, header, func(b *backup.Block) error {
		copied(uint64(b.Rows))
		return s.sink.Insert(cluster.OnShard(ctx, to), e.Account, e.Table, b)
	})
	return err
}
