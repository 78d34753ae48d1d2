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
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// findMisplaced finds of an account, or of all where it is "", those of which the shard
// that they are placed on never had a load, and another shard has: the first shard was put
// back from a copy of its disk, which is older than a move. Where both have loads, or one
// had some that were lost or are being restored, numbers do not tell which shard is right.
func (i *Inspector) findMisplaced(ctx context.Context, account string) (all []commits.Loss, err error) {
	if len(i.cluster.Shards()) == 1 {
		return nil, nil
	}
	ctx = conn.Inspecting(ctx)
	before, err := i.readPlaces(ctx, account)
	if err != nil {
		return nil, err
	}
	var adding sync.Mutex
	last := map[uint16]map[string]uint32{} // writes, by shard and account
	err = i.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		found, err := smalltables.LastWrites(ctx, s, account)
		if adlens.KindOf(err) == adlens.Damaged { // that is reported of the shard itself
			return nil
		}
		adding.Lock()
		defer adding.Unlock()
		last[s.Number] = found
		return err
	})
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
		for _, s := range i.cluster.Shards() {
			switch number := last[s.Number][account]; number {
			case 0:
			case manifest.Closed:
				all = append(all, commits.Loss{Account: account, What: fmt.Sprintf("it is placed on shard %d, which has no load of it, and is being restored on shard %d", at, s.Number)})
			default:
				all = append(all, commits.Loss{Account: account, What: fmt.Sprintf("it is placed on shard %d, which has no load of it, and shard %d has (commit %d)", at, s.Number, number)})
			}
		}
	}
	return all, err
}

// readPlaces reads on which shard an account is, or each where it is "".
func (i *Inspector) readPlaces(ctx context.Context, account string) (map[string]uint16, error) {
	home := i.cluster.Home()
	return conn.CollectMap[string, uint16](ctx, home, `
SELECT a.account_id, if(p.shard = 0, {home:UInt16}, p.shard)
FROM (SELECT DISTINCT account_id FROM accounts WHERE {account:String} IN ('', account_id)) AS a
LEFT JOIN (SELECT account_id, argMax(shard, version) AS shard FROM placements GROUP BY account_id) AS p ON p.account_id = a.account_id`,
		conn.Params{"account": query.Text(account), "home": conn.Number(home.Number)})
}
