package answer

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"

	"adlens/internal/flight"
	"adlens/internal/lru"
)

// cache remembers answers by their names, or by tag and coding. A name stands for
// the endpoint, the account, the version of its data and the meaning of the
// request, so what is remembered stops being used where it is not right any more. Only a
// repair brings rows back under the same version: forgetAccount drops what was read before.
type cache struct {
	known   *lru.Cache[string, *Answer]
	heads   *lru.Cache[string, Head] // of answers by their names, also where the answer was dropped
	flights flight.Group[string, *Answer]
	largest int // bytes of an answer that is still remembered
	memory  *memory
	writing chan struct{} // has a value for each large answer that is being written or compressed
	copying chan struct{} // and for each of which a caller keeps a copy of its own

	mu   sync.Mutex
	uses map[string]*use // of answers that are being made or sent, by name
}

// maxHeads is how many heads are remembered.
const maxHeads = 50_000

// answerOverhead is about what an answer takes in addition to its name and body.
const answerOverhead = 400

// newCache returns a cache of so many bytes, for answers that together take no
// more than memory while they are made and sent.
func newCache(bytes, memory int) *cache {
	return &cache{
		known:   lru.New(bytes, func(name string, a *Answer) int { return answerOverhead + len(name) + len(a.File) + cap(a.Body) }),
		heads:   lru.New(maxHeads, func(string, Head) int { return 1 }),
		largest: bytes / 8, // one answer with all rows does not evict all others
		memory:  newMemory(memory),
		writing: make(chan struct{}, runtime.GOMAXPROCS(0)),
		copying: make(chan struct{}, runtime.GOMAXPROCS(0)),
		uses:    map[string]*use{},
	}
}

// accountPrefix begins the names of all answers about an account.
func accountPrefix(account string) string { return account + "\n" }

// forgetAccount drops the answers about an account, about all where it is "", and their
// heads. Those in a content coding stay, whose names say what is in them.
func (c *cache) forgetAccount(account string) {
	of := func(name string) bool { return account == "" || strings.HasPrefix(name, accountPrefix(account)) }
	c.known.Forget(of)
	c.heads.Forget(of)
}

// cacheAnswer keeps an answer that no caller has yet, without the room that writers and
// codings leave in its body: a coded one may have as much as the plain body takes.
func (c *cache) cacheAnswer(name string, a *Answer) {
	if len(a.Body) > c.largest {
		return
	}
	if cap(a.Body)-len(a.Body) > len(a.Body)/8 {
		a.Body = bytes.Clone(a.Body)
	}
	c.known.Put(name, a)
}

// inTurn writes an answer, a large one in its turn: more at once than there are
// cores would only take more memory, and all would be late. The wait begins here,
// so that what an answer took to be computed does not end it.
func (c *cache) inTurn(ctx context.Context, bytes int, write func() error) error {
	if bytes > ordinaryAnswer {
		if err := takeTurn(ctx, c.writing); err != nil {
			return err
		}
		defer func() { <-c.writing }()
	}
	return write()
}

// takeTurn waits for one of a few places. A free one is taken also if the context has
// just ended: select picks any case that is ready.
func takeTurn(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	ctx, done := withWaitTimeout(ctx)
	defer done()
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return waitingError(ctx)
	}
}

// use is the memory of an answer that questions have at the same time. Those that share
// a body count it once. An answer that is too large for the cache is computed for each
// question that comes later, so each body is given back with the last question that has
// it, and whatever is left with the last holder.
type use struct {
	cache         *cache
	name, account string
	ordinary      bool            // what is computed or kept is; guarded by cache.mu
	holders       int             // questions, and computations; guarded by cache.mu
	bytes         int             // of computations and bodies; guarded by cache.mu
	bodies        map[*Answer]int // how many questions have each; 0 where none took it yet; guarded by cache.mu
}

// acquireUse begins a use of an answer. The caller releases it.
func (c *cache) acquireUse(account, name string) *use {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, ok := c.uses[name]
	if !ok {
		u = &use{cache: c, name: name, account: account, ordinary: true, bodies: map[*Answer]int{}}
		c.uses[name] = u
	}
	u.holders++
	return u
}

func (u *use) releaseUse() {
	u.cache.mu.Lock()
	defer u.cache.mu.Unlock()
	if u.holders--; u.holders == 0 {
		delete(u.cache.uses, u.name)
		u.cache.memory.addBytes(u.account, -u.bytes, u.ordinary)
	}
}

// reserveBytes waits for memory that is going to be taken.
func (u *use) reserveBytes(ctx context.Context, bytes int) error {
	err := u.cache.memory.reserveBytes(ctx, u.account, bytes)
	if err == nil {
		u.cache.mu.Lock()
		defer u.cache.mu.Unlock()
		u.countAs(isOrdinary(bytes))
		u.bytes += bytes
	}
	return err
}

// countAs has what it has count as an ordinary answer's or not. The caller holds the lock.
func (u *use) countAs(ordinary bool) {
	if before := u.ordinary; before != ordinary {
		u.ordinary = ordinary
		u.cache.memory.addBytes(u.account, -u.bytes, before)
		u.cache.memory.addBytes(u.account, u.bytes, ordinary)
	}
}

// adjustBytes counts more of the memory, or less.
func (u *use) adjustBytes(bytes int) {
	u.cache.mu.Lock()
	defer u.cache.mu.Unlock()
	u.bytes += bytes
	u.cache.memory.addBytes(u.account, bytes, u.ordinary)
}

// holdBody counts the body of an answer for more questions, unless it is counted already.
func (u *use) holdBody(a *Answer, questions int) {
	u.cache.mu.Lock()
	defer u.cache.mu.Unlock()
	if _, counted := u.bodies[a]; !counted {
		if !isOrdinary(cap(a.Body)) { // of memory: nothing was reserved for it
			u.countAs(false)
		}
		u.bytes += cap(a.Body)
		u.cache.memory.addBytes(u.account, cap(a.Body), u.ordinary)
	}
	u.bodies[a] += questions
}

// dropBody gives a body back with the last question that has it.
func (u *use) dropBody(a *Answer) {
	u.cache.mu.Lock()
	defer u.cache.mu.Unlock()
	if u.bodies[a]--; u.bodies[a] == 0 {
		delete(u.bodies, a)
		u.bytes -= cap(a.Body)
		u.cache.memory.addBytes(u.account, -cap(a.Body), u.ordinary)
	}
}
