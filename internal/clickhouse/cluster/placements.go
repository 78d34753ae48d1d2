package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/query"
	"adlens/internal/recent"
)

const (
	// PlaceLife is for how long a process believes where an account is. A move
	// keeps others from loading for longer than that, so that nothing new is ever
	// missed by those who still ask the old place.
	PlaceLife = 2 * time.Second
	// Settling is for how long a move waits after the account has its new place: by
	// then every process has read it again. No place is used that is older.
	Settling = 2 * PlaceLife
	// maxPlaces bounds what is remembered.
	maxPlaces = 100_000
)

// Placements knows on which shard each account is.
type Placements struct {
	cluster *Cluster
	known   *lru.Cache[string, place] // by account, in the text form of parameters
	asking  flight.Group[string, place]
	moved   func(account string) // hears of accounts that have another place
}

// place is where an account was when that was read.
type place struct {
	shard   uint16
	version uint64 // of its places; 0 where it has none
	asked   time.Time
}

// isYounger reports whether a place was read within a time.
func (p place) isYounger(than time.Duration) bool { return recent.Elapsed(p.asked, time.Now()) < than }

func newPlacements(c *Cluster) *Placements {
	return &Placements{cluster: c, known: lru.New(maxPlaces, func(string, place) int { return 1 }), moved: func(string) {}}
}

// OnMove has a function hear of each account whose place is found changed, or is changed here:
// at another one, as after a lost shard was restored, its loads may have numbers that others
// had before. It is set before the first account is looked up.
func (ps *Placements) OnMove(moved func(account string)) { ps.moved = moved }

// Find returns the shard of an account, in the text form of parameters. It may
// have moved a moment ago.
func (ps *Placements) Find(ctx context.Context, account string) (uint16, error) {
	if p, ok := ps.known.Get(account); ok && p.isYounger(PlaceLife) {
		return p.shard, nil
	}
	for {
		p, err := ps.asking.Do(ctx, account, func(ctx context.Context) (place, error) {
			ctx, cancel := context.WithTimeout(ctx, Settling) // no later answer is used
			defer cancel()
			p, err := ps.readPlace(ctx, account)
			if err != nil {
				return p, err
			}
			before, known := ps.known.Get(account)
			ps.known.Put(account, p)
			if known && before.version != p.version {
				ps.moved(account)
			}
			return p, nil
		})
		if err != nil || p.isYounger(Settling) {
			return p.shard, err
		}
		// The answer was on its way for long, as where the network stood still, or
		// callers before this one waited for it: the account may have moved since.
	}
}

// Read reads the shard of an account; placed reports whether one was chosen.
func (ps *Placements) Read(ctx context.Context, account string) (number uint16, placed bool, err error) {
	p, err := ps.readPlace(ctx, account)
	return p.shard, p.version > 0, err
}

func (ps *Placements) readPlace(ctx context.Context, account string) (place, error) {
	home, p := ps.cluster.Home(), place{asked: time.Now()}
	err := home.ReadOnce(ctx, "SELECT argMax(shard, version), max(version) FROM placements WHERE account_id = {account:String}",
		conn.Params{"account": account}, conn.ScanInto(&p.shard, &p.version))
	if err == nil && p.version == 0 {
		p.shard, err = home.Number, directory.RequireNew(ctx, home.Server, "placements", account)
	}
	return p, err
}

// accountsOn returns the accounts that are on a shard.
func (ps *Placements) accountsOn(ctx context.Context, s *Shard) ([]string, error) {
	return conn.CollectValues[string](ctx, ps.cluster.Home(), "SELECT account_id FROM placements GROUP BY account_id HAVING argMax(shard, version) = {shard:UInt16} ORDER BY account_id",
		conn.Params{"shard": conn.Number(s.Number)})
}

// leaseSpare is what is left of a lock at least when a placement is written under it.
const leaseSpare = 10 * time.Second

// Move has an account on another shard. The caller holds its lock: where that is a
// claim that has ended, as of a process that stood still, nothing is written, because
// another process may have moved the account since. Claims and placements are on the
// same server, so the insert itself looks.
func (ps *Placements) Move(ctx context.Context, account string, to uint16) error {
	token := "" // locked otherwise, or new
	if c, ok := ps.cluster.claims.Load(account); ok {
		token = c.(*claim).token
	}
	id := query.Text(account)
	err := directory.Change(ctx, ps.cluster.Home().Server, "placements", `
INSERT INTO placements
SELECT {account:String}, {shard:UInt16}, max(version) + 1
FROM placements
WHERE account_id = {account:String}
HAVING {token:String} = '' OR (
    SELECT argMax(expires_at, beat) > now64(3) + {spare:UInt32}
    FROM leases
    WHERE account_id = {account:String} AND token = {token:String})`,
		conn.Params{"account": id, "shard": conn.Number(to), "token": token, "spare": conn.Number(uint32(leaseSpare.Seconds()))})
	if err != nil || token == "" {
		return err
	}
	is, _, err := ps.Read(conn.Inspecting(ctx), id)
	if err == nil && is != to {
		err = fmt.Errorf("account %s is on shard %d and not on %d: the lock on it ended before its place was written; do it again", account, is, to)
	}
	return err
}

// Put has an account on a shard from now on, in this process at once.
func (ps *Placements) Put(ctx context.Context, account string, s *Shard) error {
	if err := ps.Move(ctx, account, s.Number); err != nil {
		return err
	}
	id := query.Text(account)
	ps.known.Put(id, place{shard: s.Number, asked: time.Now()})
	ps.moved(id)
	return nil
}

// Place chooses the shard of an account that is new; one that is there stays
// where it is. Accounts are spread by their ids, so that shards have about as
// many of them.
func (ps *Placements) Place(ctx context.Context, account string) error {
	if len(ps.cluster.shards) == 1 {
		return nil
	}
	id := query.Text(account)
	_, placed, err := ps.Read(ctx, id)
	if err != nil {
		return err
	}
	home := ps.cluster.Home()
	if placed { // by a command that may have failed before the seal
		return directory.SealTable(ctx, home.Server, "placements")
	}
	rows, err := conn.CollectValues[string](ctx, home, "SELECT account_id FROM accounts WHERE account_id = {account:String} LIMIT 1", conn.Params{"account": id})
	_, found, err := directory.Found(ctx, home.Server, "accounts", id, rows, err)
	if err != nil || found {
		return err
	}
	s, err := ps.Choose(ctx, account)
	if err != nil {
		return err
	}
	return ps.Put(ctx, account, s)
}

// Choose spreads accounts over the shards, except those that were never opened
// or are not what they were.
func (ps *Placements) Choose(ctx context.Context, account string) (*Shard, error) {
	home := ps.cluster.Home()
	is, err := home.readIdentity(ctx)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(ps.cluster.shards), func(s *Shard) bool {
		return s != home && is.of[s.Number] == "" || s.Refused() != nil
	})
	if len(open) == 0 {
		open = ps.cluster.shards[:1]
	}
	hash := fnv.New64a()
	hash.Write([]byte(account))
	return open[hash.Sum64()%uint64(len(open))], nil
}
