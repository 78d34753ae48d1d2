package recent

import (
	"context"
	"sync"

	"adlens/internal/flight"
	"adlens/internal/lru"
)

// Source is where views of accounts are read.
type Source[V any] interface {
	// Mark is an account's mark, which is the same while its version is; settled is
	// false where nothing follows from it.
	Mark(account string) (mark uint64, settled bool)
	// Version reads the version of what is visible of an account.
	Version(ctx context.Context, account string) (uint32, error)
	// View reads what is visible of an account, and its version. known is the view
	// before, from which it may take what is the same; the zero value for none.
	View(ctx context.Context, account string, known V) (view V, version uint32, err error)
}

// Views remembers what was read of accounts, and finds out whether it is still true: by
// the account's mark where all writers are on this machine, else by its version. A view is
// never older than the request. It is safe for concurrent use.
type Views[V any] struct {
	source Source[V]
	known  *lru.Cache[string, knownView[V]]

	questions flight.Group[question, V]
	mu        sync.Mutex
	turns     map[string]*turn // one for each account that was requested
}

type knownView[V any] struct {
	view    V
	version uint32
	mark    uint64 // read before the view was
}

// question is a question about an account that did not begin yet, or is the
// last that did.
type question struct {
	account string
	number  int
}

// turn lets one question about an account run at a time.
type turn struct {
	taken chan struct{}
	next  int // number of the question that did not begin yet
}

// NewViews returns views of a source, which together are no larger than most.
func NewViews[V any](source Source[V], most int, size func(V) int) *Views[V] {
	return &Views[V]{source: source, turns: map[string]*turn{},
		known: lru.New(most, func(_ string, k knownView[V]) int { return size(k.view) })}
}

// Current returns an account's view of this moment.
func (vs *Views[V]) Current(ctx context.Context, account string) (V, error) {
	known, ok := vs.known.Get(account)
	if ok && vs.isSettled(account, known.mark) {
		return known.view, nil
	}
	t, q := vs.nextQuestion(account)
	return vs.questions.Do(ctx, q, func(ctx context.Context) (V, error) { return vs.answer(ctx, t, account) })
}

// Forget drops what is kept of an account, of all where it is "": their next views are read
// from the source.
func (vs *Views[V]) Forget(account string) {
	vs.known.Forget(func(known string) bool { return account == "" || known == account })
}

func (vs *Views[V]) isSettled(account string, known uint64) bool {
	mark, settled := vs.source.Mark(account)
	return settled && mark == known
}

// nextQuestion returns a question that begins after now, so that its answer is
// true for all who join it.
func (vs *Views[V]) nextQuestion(account string) (*turn, question) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	t, ok := vs.turns[account]
	if !ok {
		t = &turn{taken: make(chan struct{}, 1)}
		vs.turns[account] = t
	}
	return t, question{account, t.next}
}

// answer waits until the question before this one is answered; from then on
// no caller joins any more.
func (vs *Views[V]) answer(ctx context.Context, t *turn, account string) (none V, err error) {
	select {
	case t.taken <- struct{}{}:
		defer func() { <-t.taken }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	vs.mu.Lock()
	t.next++
	vs.mu.Unlock()
	return vs.refresh(ctx, account)
}

// refresh makes sure that the view is that of the live version. The mark is
// read first: a change that comes later makes it another.
func (vs *Views[V]) refresh(ctx context.Context, account string) (V, error) {
	var next knownView[V]
	var settled bool
	next.mark, settled = vs.source.Mark(account)
	known, ok := vs.known.Get(account)
	if ok && !settled {
		version, err := vs.source.Version(ctx, account)
		if err != nil {
			return known.view, err
		}
		// Where the source turned out to be another one, it may have been forgotten meanwhile.
		if known, ok = vs.known.Get(account); ok && version == known.version {
			return known.view, nil
		}
	}
	var err error
	if next.view, next.version, err = vs.source.View(ctx, account, known.view); err == nil {
		vs.known.Put(account, next)
	}
	return next.view, err
}
