package clickhouse

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/query"
)

const (
	// placeLife is for how long a process believes where an account is. Who
	// moves one keeps others from loading for longer than that, so that nothing
	// new is ever missed by those who still ask the old place.
	placeLife = 2 * time.Second
	// maxPlaces bounds what is remembered.
	maxPlaces = 100_000
)

// placements knows on which shard each account is.
type placements struct {
	home   *server
	known  *lru.Cache[string, place] // by account, in the text form of parameters
	asking flight.Group[string, place]
}

// place is where an account was when it was asked for.
type place struct {
	shard uint16
	asked time.Time
}

func newPlacements(home *server) *placements {
	return &placements{home: home, known: lru.New(maxPlaces, func(string, place) int { return 1 })}
}

// of returns the shard of an account.
func (ps *placements) of(ctx context.Context, account string) (uint16, error) {
	if p, ok := ps.known.Get(account); ok && time.Since(p.asked) < placeLife {
		return p.shard, nil
	}
	p, err := ps.asking.Do(ctx, account, func(ctx context.Context) (place, error) {
		p := place{asked: time.Now()}
		number, _, err := ps.read(ctx, account)
		if p.shard = number; err == nil {
			ps.known.Put(account, p)
		}
		return p, err
	})
	return p.shard, err
}

// read asks for the shard of an account; placed says that somebody chose it.
func (ps *placements) read(ctx context.Context, account string) (number uint16, placed bool, err error) {
	err = ps.home.readOnce(ctx, "SELECT argMax(shard, version) FROM placements WHERE account_id = {account:String}", Params{"account": account},
		each(func(scan func(...any) error) error { return scan(&number) }))
	if err == nil && number == 0 {
		return ps.home.number, false, ps.home.requireNew(ctx, "placements", account)
	}
	return number, true, err
}

// put moves an account. The caller holds its lock.
func (ps *placements) put(ctx context.Context, account string, to uint16) error {
	return ps.home.change(ctx, "placements", `
INSERT INTO placements SELECT {account:String}, {shard:UInt16}, max(version) + 1
FROM placements WHERE account_id = {account:String}`, Params{"account": account, "shard": number(uint32(to))})
}

// Place chooses the shard of an account that is new; one that is there stays
// where it is. Accounts are spread by their ids, so that shards have about as
// many of them.
func (db *DB) Place(ctx context.Context, account string) error {
	if len(db.shards) == 1 {
		return nil
	}
	id := query.Text(account)
	_, placed, err := db.placements.read(ctx, id)
	if err != nil || placed {
		return err
	}
	_, found, err := db.Account(ctx, account)
	if err != nil || found {
		return err
	}
	s, err := db.choose(ctx, account)
	if err != nil {
		return err
	}
	return db.putAt(ctx, account, s)
}

// choose spreads accounts over the shards, but for those that were never opened
// or are not what they were.
func (db *DB) choose(ctx context.Context, account string) (*server, error) {
	home, err := db.home.identity(ctx)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(db.shards), func(s *server) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s != db.home && home.of[s.number] == "" || s.refused != nil
	})
	if len(open) == 0 {
		open = db.shards[:1]
	}
	hash := fnv.New64a()
	hash.Write([]byte(account))
	return open[hash.Sum64()%uint64(len(open))], nil
}

// putAt has an account on a shard from now on.
func (db *DB) putAt(ctx context.Context, account string, s *server) error {
	id, chosen := query.Text(account), s.number
	if err := db.placements.put(ctx, id, chosen); err != nil {
		return err
	}
	db.placements.known.Put(id, place{chosen, time.Now()})
	return nil
}
