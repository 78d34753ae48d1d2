package integrity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// findMisplaced finds of an account, or of all where it is "", those of which the shard
// that they are placed on never had a load, and another shard has, or they had some before:
// the first shard, or their own, was put back from a copy of its disk, which is older than a
// move or all loads. Where both have loads, or one had some that were lost or are being
// restored, numbers do not tell which shard is right.
func (i *Inspector) findMisplaced(ctx context.Context, account string) (all []commits.Loss, err error) {
	if len(i.cluster.Shards()) == 1 {
		return nil, nil
	}
	ctx = conn.Inspecting(ctx)
	before, err := i.readPlaces(ctx, account)
	if err != nil {
		return nil, err
	}
	loaded, err := directory.LoadedAccounts(ctx, i.cluster.Home(), account)
	if err != nil {
		return nil, err
	}
	last, err := i.lastWrites(ctx, account)
	if err != nil {
		return nil, err
	}
	after, err := i.readPlaces(ctx, account) // an account that moves meanwhile is where it was, or is going to be
	for _, account := range slices.Sorted(maps.Keys(before)) {
		at := before[account]
		own, read := last[at]
		if _, had := own[account]; !read || had || after[account] != at {
			continue
		}
		elsewhere := i.describeElsewhere(account, last)
		if len(elsewhere) == 0 && slices.Contains(loaded, account) {
			elsewhere = []string{fmt.Sprintf("had some, as where an older copy of its disk was put back (if no backup has the account: adlens account move %s --shard %d --lost)", account, at)}
		}
		for _, what := range elsewhere {
			all = append(all, commits.Loss{Account: account, What: fmt.Sprintf("it is placed on shard %d, which has no load of it, and %s", at, what)})
		}
	}
	return all, err
}

// lastWrites reads the last writes of an account, or of all, by shard and account. Shards that
// are away, or damaged, which is reported of the shard itself, are left out.
func (i *Inspector) lastWrites(ctx context.Context, account string) (map[uint16]map[string]uint32, error) {
	var adding sync.Mutex
	last := map[uint16]map[string]uint32{}
	err := i.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		found, err := smalltables.LastWrites(ctx, s, account)
		if adlens.KindOf(err) == adlens.Damaged {
			return nil
		}
		if err != nil {
			return err
		}
		adding.Lock()
		defer adding.Unlock()
		last[s.Number] = found
		return nil
	})
	return last, err
}

// describeElsewhere says which shards have loads of an account.
func (i *Inspector) describeElsewhere(account string, last map[uint16]map[string]uint32) (all []string) {
	for _, s := range i.cluster.Shards() {
		switch number := last[s.Number][account]; number {
		case 0:
		case manifest.Closed:
			all = append(all, fmt.Sprintf("is being restored on shard %d", s.Number))
		default:
			all = append(all, fmt.Sprintf("shard %d has (commit %d)", s.Number, number))
		}
	}
	return all
}

// leaveElsewhere leaves out what a server misses of accounts that are on another shard: what a
// move has left of one takes it from no request where it is. The directory is read through the
// session where that is of its server, which may have no other yet.
func (i *Inspector) leaveElsewhere(ctx context.Context, c *conn.Session, losses []commits.Loss) ([]commits.Loss, error) {
	if len(losses) == 0 {
		return nil, nil
	}
	var at conn.Reader = i.cluster.Home()
	var own []commits.Loss // of the directory
	var err error
	if c.IsOf(i.cluster.Home().Server) {
		at = c
		if own, err = directoryLosses(ctx, c, ""); err != nil && adlens.KindOf(err) != adlens.Damaged {
			return nil, err
		}
	}
	places, err := i.readPlacesAt(ctx, at, "")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(losses), func(l commits.Loss) bool {
		place, placed := places[l.Account]
		return placed && !slices.Contains(own, l) && slices.ContainsFunc(i.cluster.Shards(), func(s *cluster.Shard) bool { return s.Number == place && !c.IsOf(s.Server) })
	}), nil
}

// NewerElsewhere says of accounts which other shard has a newer load than their own: a move
// leaves none that is newer, so an older copy of a disk was put back, or a load came late.
func (i *Inspector) NewerElsewhere(ctx context.Context) (map[string]string, error) {
	if len(i.cluster.Shards()) == 1 {
		return nil, nil
	}
	ctx = conn.Inspecting(ctx)
	places, err := i.readPlaces(ctx, "")
	if err != nil {
		return nil, err
	}
	last, err := i.lastWrites(ctx, "")
	newer := map[string]string{}
	for account, at := range places {
		own := last[at][account]
		for shard, numbers := range last {
			if number := numbers[account]; own > 0 && number > own && number != manifest.Closed {
				newer[account] = fmt.Sprintf("shard %d has a newer load (commit %d) than shard %d (commit %d), where it is", shard, number, at, own)
			}
		}
	}
	return newer, err
}

// noteLoaded tells the directory of accounts that have loads where they are.
func (i *Inspector) noteLoaded(ctx context.Context) error {
	if len(i.cluster.Shards()) == 1 {
		return nil
	}
	ctx = conn.Inspecting(ctx)
	places, err := i.readPlaces(ctx, "")
	if err != nil {
		return err
	}
	loaded, err := directory.LoadedAccounts(ctx, i.cluster.Home(), "")
	if err != nil {
		return err
	}
	last, err := i.lastWrites(ctx, "")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, account := range loaded {
		known[account] = true
	}
	var missing []string
	for _, account := range slices.Sorted(maps.Keys(places)) {
		if number := last[places[account]][account]; number > 0 && number != manifest.Closed && !known[account] {
			missing = append(missing, account)
		}
	}
	return directory.NoteLoaded(ctx, i.cluster.Home().Server, missing...)
}

// readPlaces reads on which shard an account is, or each where it is "".
func (i *Inspector) readPlaces(ctx context.Context, account string) (map[string]uint16, error) {
	return i.readPlacesAt(ctx, i.cluster.Home(), account)
}

func (i *Inspector) readPlacesAt(ctx context.Context, at conn.Reader, account string) (map[string]uint16, error) {
	return conn.CollectMap[string, uint16](ctx, at, `
SELECT a.account_id, if(p.shard = 0, {home:UInt16}, p.shard)
FROM (SELECT DISTINCT account_id FROM accounts WHERE {account:String} IN ('', account_id)) AS a
LEFT JOIN (SELECT account_id, argMax(shard, version) AS shard FROM placements GROUP BY account_id) AS p ON p.account_id = a.account_id`,
		conn.Params{"account": query.Text(account), "home": conn.Number(i.cluster.Home().Number)})
}
