package audit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
)

// Loaded is how far an account is loaded.
type Loaded struct {
	LastLoad  time.Time  // when something of it became visible last, by the clock of the database: rates, lists and restores too
	NewestDay adlens.Day // of its figures; 0 where none are held
}

// selectLive reads the live commits of all accounts: of each the newest one and those on which
// another builds, from the newest of these on that builds on nothing. What ends an earlier
// writer is among them; a mark that closes an account for a restore is not.
var selectLive = fmt.Sprintf(`
    SELECT account_id, arrayJoin(arrayFilter(n -> n >= root, arrayPushBack(bases, head)))
    FROM (
        SELECT account_id, groupArray(base) AS bases, max(number) AS head, arrayMax(arrayFilter(n -> n = head OR has(bases, n), groupArrayIf(number, base = 0))) AS root
        FROM commits WHERE number != %d GROUP BY account_id
    )`, uint32(manifest.Closed))

// selectLoads reads when something of each account became visible last: the newest live commit
// that names a unit. The newest counts, as one that a clock dated ahead would hide all later ones.
var selectLoads = `
SELECT account_id, argMax(committed_at, number) FROM commits
WHERE (account_id, number) IN (
    SELECT account_id, number FROM commit_units WHERE (account_id, number) IN (` + selectLive + `)
)
GROUP BY account_id`

// selectNewestMonths reads, of each account, the newest month with figures, and its greatest
// set of days that a report covers: the one with the newest day. In one chain the held days of
// a month only grow, so that no commit need be matched with its unit.
var selectNewestMonths = fmt.Sprintf(`
SELECT account_id, tupleElement(max((start, arrayMax(report_days))) AS newest, 1), tupleElement(newest, 2)
FROM commit_units
WHERE kind = %d AND arrayMax(report_days) > 0 AND (account_id, number) IN (%s)
GROUP BY account_id`, manifest.Month, selectLive)

// Loaded reads how far all accounts are loaded that ever were, without one statement for
// each. Where a shard cannot be read, the error says so, and its accounts are missing.
func (a Audit) Loaded(ctx context.Context) (map[string]Loaded, error) {
	for _, s := range a.cluster.Shards() {
		s.CatchUp("commits", "commit_units")
	}
	return a.readLoaded(ctx)
}

// readLoaded is Loaded as far as each shard's server knows.
func (a Audit) readLoaded(ctx context.Context) (map[string]Loaded, error) {
	all := map[string]Loaded{}
	var mu sync.Mutex
	err := a.cluster.Everywhere(ctx, func(s *cluster.Shard) error {
		times, err := conn.CollectMap[string, time.Time](ctx, s, selectLoads, nil)
		if err != nil {
			return err
		}
		days := map[string]adlens.Day{}
		err = s.ReadOnce(ctx, selectNewestMonths, nil, conn.EachRow(func(scan conn.Scan) error {
			var account string
			var start time.Time
			var covered uint32
			err := scan(&account, &start, &covered)
			days[account], _ = manifest.Entry{Unit: manifest.Unit{Start: adlens.DayOf(start)}, Sources: []manifest.Source{{Days: manifest.Days(covered)}}}.LastHeld()
			return err
		}))
		mu.Lock()
		defer mu.Unlock()
		for account, at := range times {
			if last := all[account].LastLoad; at.After(last) || at.Equal(last) && days[account] > all[account].NewestDay { // of an account that was just moved, two shards have some
				all[account] = Loaded{at.UTC(), days[account]}
			}
		}
		return err
	})
	return all, err
}
