package clickhouse

import (
	"context"
	"slices"
	"sync"
)

// DamagedParts are the parts of our tables that the server found damaged, and
// set aside, when it started. What was in them is in no answer any more; it may
// have been of no account, as that of a load which a power cut ended. Tables
// that are not synced to the disk, because nothing hangs on them, do not count.
func (db *DB) DamagedParts(ctx context.Context) (parts []string, err error) {
	var adding sync.Mutex
	err = db.whereReachable(ctx, func(s *server) error {
		return s.inspect(ctx, `
SELECT concat(table, ' ', name, ' (', reason, ')')
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken') AND table NOT IN ('leases', 'day_uses', 'api_key_uses')
ORDER BY ALL`, func(text string) {
			adding.Lock()
			defer adding.Unlock()
			parts = append(parts, text)
		})
	})
	slices.Sort(parts)
	return parts, err
}
