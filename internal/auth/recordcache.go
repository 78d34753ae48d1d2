package auth

import (
	"sync"
	"time"
)

const (
	// cacheFor is how long a record may be used after it was asked for: the
	// time that a running server may take to obey a revocation.
	cacheFor = 2 * time.Second
	// cacheSize bounds the number of cached records.
	cacheSize = 10_000
)

// recordCache keeps records for a moment. Unknown keys are not its business:
// whoever sends made-up keys could fill it with them.
//
// It has two generations. When the young one is full or old, it becomes the
// old one, whose records are dropped at once: nobody ever sweeps.
type recordCache struct {
	mu         sync.Mutex
	young, old map[[32]byte]cachedRecord
	turned     time.Time // when the young generation began
}

type cachedRecord struct {
	record Record
	asked  time.Time // before the store was asked, so that it errs to the safe side
}

func (c *recordCache) get(hash [32]byte, now time.Time) (Record, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.young[hash]
	if !ok {
		found, ok = c.old[hash]
	}
	return found.record, ok && near(found.asked, now)
}

func (c *recordCache) put(hash [32]byte, record Record, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheSize/2 || !near(c.turned, asked) {
		c.old, c.young, c.turned = c.young, map[[32]byte]cachedRecord{}, asked
	}
	c.young[hash] = cachedRecord{record, asked}
}

// near tells whether two times are less than cacheFor apart, either way: of
// concurrent requests, any may be the first.
func near(a, b time.Time) bool { return b.Sub(a).Abs() < cacheFor }
