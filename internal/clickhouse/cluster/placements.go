package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/moves"
	"adlens/internal/query"
)

// Placements knows on which shard each account is. Accounts are in the text form of parameters.
type Placements struct {
	*moves.Places
	cluster *Cluster
}

func newPlacements(c *Cluster) *Placements {
	ps := &Placements{cluster: c}
	ps.Places = moves.NewPlaces(ps.readPlace)
	ps.Ready = func(ctx context.Context) error {
		_, err := c.Home().Connect(ctx)
		return err
	}
	ps.OnMove(func(string) {})
	return ps
}

// OnMove is that of moves.Places. What is read of the account from then on has all that was
// written at its new place: a request that has read the record of commits at the old one reads
// rows at the new one, of which a replica may lack some.
func (ps *Placements) OnMove(moved func(account string)) {
	ps.Places.OnMove(func(account string) {
		ps.cluster.CatchUp()
		moved(account)
	})
}

// Read reads the shard of an account; placed reports whether one was chosen.
func (ps *Placements) Read(ctx context.Context, account string) (number uint16, placed bool, err error) {
	p, err := ps.readPlace(ctx, account)
	return p.Shard, p.Version > 0, err
}

func (ps *Placements) readPlace(ctx context.Context, account string) (p moves.Place, err error) {
	home := ps.cluster.Home()
	err = home.ReadOnce(ctx, "SELECT argMax(shard, version), max(version) FROM placements WHERE account_id = {account:String}",
		conn.Params{"account": account}, conn.ScanInto(&p.Shard, &p.Version))
	if err == nil && p.Version == 0 {
		p.Shard, err = home.Number, directory.RequireNew(ctx, home.Server, "placements", account)
	}
	return p, err
}

// accountsOn returns the accounts that are on a shard. A place that was chosen for one which
// then was not made is none.
func (ps *Placements) accountsOn(ctx context.Context, s *Shard) ([]string, error) {
	return conn.CollectValues[string](ctx, ps.cluster.Home(), `
SELECT account_id
FROM placements
WHERE account_id IN (SELECT account_id FROM accounts UNION ALL SELECT account_id FROM directory_seals WHERE table_name = 'accounts')
GROUP BY account_id
HAVING argMax(shard, version) = {shard:UInt16}
ORDER BY account_id`, conn.Params{"shard": conn.Number(s.Number)})
}

// leaseSpare is what is left of a lock at least when a placement is written under it.
const leaseSpare = 10 * time.Second

// HeldFor is for how long a lock that is held lives on at least, with as much to spare.
const HeldFor = leaseLife - leaseTrust - leaseSpare

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
	ps.Note(query.Text(account), s.Number)
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

// Choose spreads accounts over the shards, except those that were never opened, are away,
// or are not what they were.
func (ps *Placements) Choose(ctx context.Context, account string) (*Shard, error) {
	home := ps.cluster.Home()
	is, err := home.readIdentity(ctx)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(ps.cluster.shards), func(s *Shard) bool {
		return s != home && is.of[s.Number] == "" || !s.isThere(ctx)
	})
	if len(open) == 0 {
		open = ps.cluster.shards[:1]
	}
	hash := fnv.New64a()
	hash.Write([]byte(account))
	return open[hash.Sum64()%uint64(len(open))], nil
}

// isThere reports whether a shard answers soon, as the server that it was.
func (s *Shard) isThere(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*conn.DialPatience)
	defer cancel()
	return s.MakeReady(ctx) == nil && s.Ping(ctx) == nil
}
