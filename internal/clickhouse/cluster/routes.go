package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// errNoAccount is a defect of the caller: a statement on all shards has to say so.
var errNoAccount = errors.New("a statement on the shards of a cluster names no account")

// Holder returns the server that holds an account, in the text form of parameters. Also
// where one server is known there may be more: it became the first shard of a cluster, or
// the others are missing in its list. What is not ours alone is asked where accounts are.
func (c *Cluster) Holder(ctx context.Context, account string) (*Shard, error) {
	home := c.Home()
	if len(c.shards) == 1 && (account == "" || home.Source().Marks() != nil) {
		return home, home.MakeReady(ctx)
	}
	if account == "" {
		return nil, errNoAccount
	}
	if chosen, ok := ctx.Value(chosenShard{}).(uint16); ok {
		return c.Shard(ctx, chosen)
	}
	number, err := c.placements.Find(ctx, account)
	switch {
	case conn.IsUnknown(err) && len(c.shards) == 1: // of a version without shards
		number = home.Number
	case err != nil:
		return nil, err
	}
	if !slices.ContainsFunc(c.shards, func(s *Shard) bool { return s.Number == number }) {
		return nil, conn.Refusal("the account is on shard %d, and %s: put that shard back into the list of shards; or restore the account from a backup to another one, adlens restore --from PLACE --account ID",
			number, c.describeSize())
	}
	return c.Shard(ctx, number)
}

func (c *Cluster) describeSize() string {
	if c.name == "" {
		return "no --cluster is named"
	}
	return fmt.Sprintf("cluster %q has %d here", c.name, len(c.shards))
}

// chosenShard is the key of a shard that a context has chosen.
type chosenShard struct{}

// OnShard returns a context in which an account is on a shard whatever its place
// says: while it moves, it is on two.
func OnShard(ctx context.Context, number uint16) context.Context {
	return context.WithValue(ctx, chosenShard{}, number)
}

// Shard returns the shard of a number.
func (c *Cluster) Shard(ctx context.Context, number uint16) (*Shard, error) {
	i := slices.IndexFunc(c.shards, func(s *Shard) bool { return s.Number == number })
	if i < 0 {
		return nil, fmt.Errorf("there is no shard %d; the cluster has %d", number, len(c.shards))
	}
	s := c.shards[i]
	return s, s.Name(s.MakeReady(ctx))
}

// Keeper returns the server that has the rows of an account in a table.
func (c *Cluster) Keeper(ctx context.Context, table, account string) (*Shard, error) {
	if slices.Contains(tables.OfDirectory(), table) {
		return c.Home(), nil
	}
	return c.Holder(ctx, account)
}

// atEach does something at all servers at once. The errors are in the servers'
// order.
func (c *Cluster) atEach(ctx context.Context, do func(i int, s *Shard) error) []error {
	errs := make([]error, len(c.shards))
	var busy sync.WaitGroup
	for i, s := range c.shards {
		busy.Go(func() {
			err := s.MakeReady(ctx)
			if err == nil {
				err = do(i, s)
			}
			errs[i] = s.Name(err)
		})
	}
	busy.Wait()
	return errs
}

// Everywhere does something at all servers at once. Its error is that of the
// first that could not.
func (c *Cluster) Everywhere(ctx context.Context, do func(*Shard) error) error {
	return cmp.Or(c.atEach(ctx, func(_ int, s *Shard) error { return do(s) })...)
}

// GatherEach asks all servers at once and returns their answers and errors in their order.
func GatherEach[T any](ctx context.Context, c *Cluster, ask func(*Shard) (T, error)) ([]T, []error) {
	all := make([]T, len(c.shards))
	return all, c.atEach(ctx, func(i int, s *Shard) (err error) {
		all[i], err = ask(s)
		return err
	})
}

// Gather is GatherEach where one that has no answer leaves none: what some of them say is no
// answer.
func Gather[T any](ctx context.Context, c *Cluster, ask func(*Shard) (T, error)) ([]T, error) {
	all, errs := GatherEach(ctx, c, ask)
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

// WhereReachable is Everywhere for what can be made up for when a shard that is
// away, or that another server is in the place of, is back. The one with the
// directory has to be there.
func (c *Cluster) WhereReachable(ctx context.Context, do func(*Shard) error) error {
	for i, err := range c.atEach(ctx, func(_ int, s *Shard) error { return do(s) }) {
		if err != nil && (c.shards[i] == c.Home() || !conn.IsAway(ctx, err) && !conn.IsRefusal(err)) {
			return err
		}
	}
	return nil
}

// Name says which shard an error is of.
func (s *Shard) Name(err error) error {
	var known *conn.ShardError
	if err == nil || s.Number == 0 || errors.As(err, &known) {
		return err
	}
	return &adlens.Error{Kind: adlens.KindOf(err), Err: &conn.ShardError{Number: s.Number, Address: s.Address(), Err: err}}
}

// withHolder does something at the server that holds an account, in the text form
// of parameters.
func (c *Cluster) withHolder(ctx context.Context, account string, do func(*Shard) error) error {
	s, err := c.Holder(ctx, account)
	if err != nil {
		return err
	}
	return s.Name(do(s))
}

// Read runs a reading statement on the account of its parameter, when it is the
// account's turn.
func (c *Cluster) Read(ctx context.Context, sql string, params conn.Params, read func(conn.Rows) error) error {
	return c.withHolder(ctx, params["account"], func(s *Shard) error { return s.Read(ctx, sql, params, read) })
}

// ReadOnce is Read without waiting for a turn.
func (c *Cluster) ReadOnce(ctx context.Context, sql string, params conn.Params, read func(conn.Rows) error) error {
	return c.withHolder(ctx, params["account"], func(s *Shard) error { return s.ReadOnce(ctx, sql, params, read) })
}

// CatchUp lets what is read after it, of any shard, have all that was written before it.
func (c *Cluster) CatchUp(tables ...string) {
	for _, s := range c.shards {
		s.CatchUp(tables...)
	}
}

// ReadAll runs a statement on each shard, one after the other: read sees the rows
// of all accounts.
func (c *Cluster) ReadAll(ctx context.Context, sql string, read func(conn.Rows) error) error {
	for _, s := range c.shards {
		if err := s.MakeReady(ctx); err != nil {
			return s.Name(err)
		}
		if err := s.ReadAsOwner(ctx, sql, nil, read); err != nil {
			return s.Name(err)
		}
	}
	return nil
}

// Export reads much of the account of a parameter.
func (c *Cluster) Export(ctx context.Context, sql string, params conn.Params, visit func(conn.Scan) error) error {
	return c.withHolder(ctx, params["account"], func(s *Shard) error { return s.Export(ctx, sql, params, visit) })
}

// Exec runs a writing statement on the account of its parameter.
func (c *Cluster) Exec(ctx context.Context, sql string, params conn.Params) error {
	return c.withHolder(ctx, params["account"], func(s *Shard) error { return s.Exec(ctx, sql, params) })
}

// Insert sends one block of columns to where an account is.
func (c *Cluster) Insert(ctx context.Context, account, sql string, fillBatch func(conn.Batch) error) error {
	return c.withHolder(ctx, query.Text(account), func(s *Shard) error { return s.Insert(ctx, sql, fillBatch) })
}
