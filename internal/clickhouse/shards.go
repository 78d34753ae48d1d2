package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// A cluster is sharded by account: all that is loaded into one, its manifest
// included, is on one shard, so that a load becomes visible in one insert there
// and no answer is ever the sum of some shards. adlens itself asks the shard
// that holds the account; servers need not know each other.
//
// The first shard has the directory beside: where each account is, its name, its
// keys, and what was asked of the platform for it.

// directory are the tables that the first shard has for the accounts of all.
// They are small, are looked up by other things than the account too, and stay
// where they are when an account moves.
var directory = []string{
	"directory_seals", // first: what is not sealed is not missed
	"accounts", "api_keys", "api_key_uses", "feeds", "connections", "report_requests", "refreshed", "attempts", "day_uses",
}

// errNoAccount is a mistake of ours: what is asked of all shards has to say so.
var errNoAccount = errors.New("a statement on the shards of a cluster names no account")

// holder is the server that holds an account, in the text form of parameters.
func (db *DB) holder(ctx context.Context, account string) (*server, error) {
	if len(db.shards) == 1 {
		return db.home, db.home.ready(ctx)
	}
	if account == "" {
		return nil, errNoAccount
	}
	if chosen, ok := ctx.Value(at{}).(uint16); ok {
		return db.shard(ctx, chosen)
	}
	number, err := db.placements.of(ctx, account)
	if err != nil {
		return nil, err
	}
	return db.shard(ctx, number)
}

// at is the key of a shard that a context has chosen.
type at struct{}

// onShard is a context in which an account is on a shard whatever its place
// says: while it moves, it is on two.
func onShard(ctx context.Context, number uint16) context.Context {
	return context.WithValue(ctx, at{}, number)
}

func (db *DB) shard(ctx context.Context, number uint16) (*server, error) {
	i := slices.IndexFunc(db.shards, func(s *server) bool { return s.number == number })
	if i < 0 {
		return nil, fmt.Errorf("there is no shard %d; the cluster has %d", number, len(db.shards))
	}
	s := db.shards[i]
	return s, s.named(s.ready(ctx))
}

// keeper is the server that has the rows of an account in a table.
func (db *DB) keeper(ctx context.Context, table, account string) (*server, error) {
	if slices.Contains(directory, table) {
		return db.home, nil
	}
	return db.holder(ctx, account)
}

// atEach does something at all servers at once. The errors are in the servers'
// order.
func (db *DB) atEach(ctx context.Context, do func(i int, s *server) error) []error {
	errs := make([]error, len(db.shards))
	var busy sync.WaitGroup
	for i, s := range db.shards {
		busy.Go(func() {
			err := s.ready(ctx)
			if err == nil {
				err = do(i, s)
			}
			errs[i] = s.named(err)
		})
	}
	busy.Wait()
	return errs
}

// everywhere does something at all servers at once. Its error is that of the
// first that could not.
func (db *DB) everywhere(ctx context.Context, do func(*server) error) error {
	return cmp.Or(db.atEach(ctx, func(_ int, s *server) error { return do(s) })...)
}

// gather asks all servers at once, and has their answers in their order. Where
// one has none there are none: what some of them say is no answer.
func gather[T any](ctx context.Context, db *DB, ask func(*server) (T, error)) ([]T, error) {
	all := make([]T, len(db.shards))
	err := cmp.Or(db.atEach(ctx, func(i int, s *server) (err error) {
		all[i], err = ask(s)
		return err
	})...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// whereReachable is everywhere for what can be made up for when a shard that is
// away, or that another server is in the place of, is back. The one with the directory has to be there.
func (db *DB) whereReachable(ctx context.Context, do func(*server) error) error {
	for i, err := range db.atEach(ctx, func(_ int, s *server) error { return do(s) }) {
		if err != nil && (db.shards[i] == db.home || !away(ctx, err) && !isRefusal(err)) {
			return err
		}
	}
	return nil
}

// away tells whether an error says that a server did not answer.
func away(ctx context.Context, err error) bool {
	kind := adlens.KindOf(err)
	return kind == adlens.EngineUnavailable || kind == adlens.QueryTimeout && ctx.Err() == nil
}

// shardError is an error of one shard.
type shardError struct {
	number  uint16
	address string
	err     error
}

func (e *shardError) Error() string { return fmt.Sprintf("shard %d: %s", e.number, e.err) }

func (e *shardError) Unwrap() error { return e.err }

// named says which shard an error is of.
func (s *server) named(err error) error {
	var known *shardError
	if err == nil || s.number == 0 || errors.As(err, &known) {
		return err
	}
	return &adlens.Error{Kind: adlens.KindOf(err), Err: &shardError{s.number, s.address(), err}}
}

// Ping tells whether the server answers that every request needs: the only one,
// or the one with the directory. Where another shard is away, its accounts alone
// have to wait.
func (db *DB) Ping(ctx context.Context) error { return db.home.ping(ctx) }

// reading runs a statement on the account of its parameter.
func (db *DB) reading(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	s, err := db.holder(ctx, params["account"])
	if err != nil {
		return err
	}
	return s.named(s.reading(ctx, sql, params, read))
}

// readOnce is reading without a turn.
func (db *DB) readOnce(ctx context.Context, sql string, params Params, read func(driver.Rows) error) error {
	s, err := db.holder(ctx, params["account"])
	if err != nil {
		return err
	}
	return s.named(s.readOnce(ctx, sql, params, read))
}

// exec runs a writing statement on the account of its parameter.
func (db *DB) exec(ctx context.Context, sql string, params Params) error {
	s, err := db.holder(ctx, params["account"])
	if err != nil {
		return err
	}
	return s.named(s.exec(ctx, sql, params))
}

// exporting reads much of the account of a parameter.
func (db *DB) exporting(ctx context.Context, sql string, params Params, visit func(scan func(...any) error) error) error {
	s, err := db.holder(ctx, params["account"])
	if err != nil {
		return err
	}
	return s.named(s.exporting(ctx, sql, params, visit))
}

// insert sends one block of columns to where an account is.
func (db *DB) insert(ctx context.Context, account, sql string, fill func(driver.Batch) error) error {
	s, err := db.holder(ctx, query.Text(account))
	if err != nil {
		return err
	}
	return s.named(s.insert(ctx, sql, fill))
}
