// Package recent keeps what every request asks a store for: for a moment, whose key it is
// and whether the account may come in, and while it is true, what is visible of the
// account.
package recent

import (
	"context"
	"sync"
	"time"

	"adlens/internal/flight"
)

// Values are values of a store by their keys, none older than a given age. It
// is safe for concurrent use.
//
// A value that is half as old as it may become is read again in the background of the
// request that finds it so: a stream of requests never waits for the store. Where a
// mark says that nothing has changed, it is as good as read again.
//
// A caller that finds none waits, together with all who ask for the same one. Keys
// that the store does not have are not kept: a client that makes keys up could fill
// the memory with them.
//
// There are two generations. When the young one is full or old, it becomes the
// old one, whose values are dropped at once: there is no sweep.
type Values[K comparable, V any] struct {
	age  time.Duration
	most int
	read func(context.Context, K) (value V, found bool, err error)
	mark Mark // nil for none

	reads flight.Group[K, answer[V]]

	mu         sync.Mutex
	young, old map[K]*kept[V]
	turned     time.Time // when the young generation began
}

// Mark stays the same while the store's values do; settled is false where nothing
// follows from it.
type Mark func() (mark uint64, settled bool)

// Of two writers at once, one that dies may leave a change without a mark. So a value is
// read again in the background where it was read longer ago than unread.
const unread = 30 * time.Second

// LongestTrust is how long ago a value was read at most that is used because of a mark.
const LongestTrust = 10 * time.Minute

// answer is what the store said.
type answer[V any] struct {
	value V
	found bool

	begun   time.Time // before the store was asked
	mark    uint64    // read before
	settled bool
}

type kept[V any] struct {
	answer[V]
	asked     time.Time // before the store was, so that it errs to the safe side
	confirmed time.Time // it was still true then, by the mark
	renewed   bool      // it is being read again, or that was tried
}

// New returns values of up to an age, at most so many, which read finds; found
// is false for what there is not.
func New[K comparable, V any](age time.Duration, most int, read func(context.Context, K) (value V, found bool, err error)) *Values[K, V] {
	return &Values[K, V]{age: age, most: most, read: read}
}

// Trust has values kept while a mark stays the same. It is to be called before all else.
func (v *Values[K, V]) Trust(mark Mark) { v.mark = mark }

// Get returns the value of a key as of now or a moment before.
func (v *Values[K, V]) Get(ctx context.Context, key K, now time.Time) (value V, found bool, err error) {
	value, found, renew := v.get(key, now)
	if renew {
		go v.renew(context.WithoutCancel(ctx), key, now)
	}
	if found {
		return value, true, nil
	}
	a, err := v.ask(ctx, key, now)
	return a.value, a.found, err
}

// renew reads a value again. Where that fails, who asks when the value is too
// old hears why.
func (v *Values[K, V]) renew(ctx context.Context, key K, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, v.age)
	defer cancel()
	v.ask(ctx, key, now)
}

// patience is how long the store is waited for. A question that hangs, as where the network
// swallowed it, ends by then, however many join it.
const patience = 20 * time.Second

func (v *Values[K, V]) ask(ctx context.Context, key K, now time.Time) (a answer[V], err error) {
	// Who joined a question that was on its way for long hears what was true before.
	for ok := false; !ok && err == nil; ok = near(a.begun, now, v.age) {
		a, err = v.reads.Do(ctx, key, func(ctx context.Context) (a answer[V], err error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			if a.begun = now; v.mark != nil {
				a.mark, a.settled = v.mark() // first: a change that comes later makes it another
			}
			a.value, a.found, err = v.read(ctx, key)
			if err == nil {
				v.put(key, a, now)
			}
			return a, err
		})
	}
	return a, err
}

// get returns what is kept, and whether it is time to read it again, which one
// caller alone is told.
func (v *Values[K, V]) get(key K, now time.Time) (value V, found, renew bool) {
	k, confirmed := v.find(key)
	if k == nil {
		return value, false, false
	}
	if near(confirmed, now, v.age/2) {
		return k.value, true, false
	}
	unchanged := near(k.asked, now, LongestTrust) && v.isUnchanged(k)
	v.mu.Lock()
	defer v.mu.Unlock()
	if unchanged {
		k.confirmed = now
		return k.value, true, !near(k.asked, now, unread)
	}
	if !near(k.confirmed, now, v.age) {
		return value, false, false
	}
	renew = !k.renewed
	k.renewed = true
	return k.value, true, renew
}

// find returns what is kept of a key, nil for nothing, and when it was confirmed last.
func (v *Values[K, V]) find(key K) (k *kept[V], confirmed time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k, ok := v.young[key]
	if !ok {
		k, ok = v.old[key]
	}
	if !ok {
		return nil, confirmed
	}
	return k, k.confirmed
}

// isUnchanged reports whether the mark says so.
func (v *Values[K, V]) isUnchanged(k *kept[V]) bool {
	if v.mark == nil || !k.settled {
		return false
	}
	mark, settled := v.mark()
	return settled && mark == k.mark
}

// put keeps what the store has, and forgets what it has no more.
func (v *Values[K, V]) put(key K, a answer[V], asked time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !a.found {
		delete(v.young, key)
		delete(v.old, key)
		return
	}
	age := v.age
	if v.mark != nil {
		age = unread
	}
	if v.young == nil || len(v.young) >= v.most/2 || !near(v.turned, asked, age) {
		v.old, v.young, v.turned = v.young, map[K]*kept[V]{}, asked
	}
	v.young[key] = &kept[V]{answer: a, asked: asked, confirmed: asked}
}

// near reports whether two times are less than so far apart, either way: of
// concurrent requests, any may be the first.
func near(a, b time.Time, age time.Duration) bool {
	return max(Elapsed(a, b), Elapsed(b, a)) < age
}

// Elapsed returns how much time passed, by the clock that shows more of it: a machine that
// was suspended sees that by its wall clock alone; where that was set back, the monotonic
// one counts.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}
