package clickhouse

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// Marks tell whether an account may have changed since it was read. Whoever
// changes what is visible of an account announces it here.
type Marks interface {
	// Read returns a mark that stays the same while nothing changes; settled
	// is false where nothing follows from it.
	Read(account string) (mark uint64, settled bool)
	// Change announces a change; settle says that it is visible.
	Change(account string) (settle func() error, err error)
}

// maxViewUnits bounds the units of all remembered views: some 50 MB.
const maxViewUnits = 200_000

// views remembers what was read of accounts, and finds out whether it is
// still true: by the account's mark where all writers are on this machine,
// else by asking for the version. A view is never older than the request.
type views struct {
	db    *DB
	known *lru.Cache[string, knownView]

	questions flight.Group[question, query.View]
	mu        sync.Mutex
	turns     map[string]*turn // one for each account that was asked for
}

type knownView struct {
	view query.View
	mark uint64 // read before the view was
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

func newViews(db *DB) *views {
	return &views{db: db, turns: map[string]*turn{},
		known: lru.New(maxViewUnits, func(_ string, k knownView) int { return 1 + k.view.Manifest.Len() })}
}

// now returns the view of this moment.
func (vs *views) now(ctx context.Context, account string) (query.View, error) {
	known, ok := vs.known.Get(account)
	if ok && vs.settled(known) {
		return known.view, nil
	}
	t, q := vs.question(account)
	return vs.questions.Do(ctx, q, func(ctx context.Context) (query.View, error) { return vs.ask(ctx, t, account) })
}

func (vs *views) settled(known knownView) bool {
	marks := vs.db.home.source.Marks()
	if marks == nil {
		return false
	}
	mark, settled := marks.Read(known.view.Account)
	return settled && mark == known.mark
}

// question returns a question that begins after now, so that its answer is
// true for whoever joins it.
func (vs *views) question(account string) (*turn, question) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	t, ok := vs.turns[account]
	if !ok {
		t = &turn{taken: make(chan struct{}, 1)}
		vs.turns[account] = t
	}
	return t, question{account, t.next}
}

// ask waits until the question before this one is answered; from then on
// nobody joins any more.
func (vs *views) ask(ctx context.Context, t *turn, account string) (query.View, error) {
	select {
	case t.taken <- struct{}{}:
		defer func() { <-t.taken }()
	case <-ctx.Done():
		return query.View{}, ctx.Err()
	}
	vs.mu.Lock()
	t.next++
	vs.mu.Unlock()
	return vs.refresh(ctx, account)
}

// refresh makes sure that the view is that of the live version. The mark is
// read first: a change that comes later makes it another.
func (vs *views) refresh(ctx context.Context, account string) (query.View, error) {
	next, settled := knownView{}, false
	if marks := vs.db.home.source.Marks(); marks != nil {
		next.mark, settled = marks.Read(account)
	}
	known, ok := vs.known.Get(account)
	if ok && !settled {
		version, err := vs.db.version(ctx, account)
		if err != nil || version == known.view.Manifest.Version {
			return known.view, err
		}
	}
	var err error
	if next.view, err = vs.db.readView(ctx, account, known.view); err == nil {
		vs.known.Put(account, next)
	}
	return next.view, err
}

// version asks for the version of the load that was visible last.
func (db *DB) version(ctx context.Context, account string) (version uint32, err error) {
	err = db.reading(ctx, "SELECT max(number) FROM commits WHERE account_id = {account:String}",
		Params{"account": query.Text(account)}, each(func(scan func(...any) error) error { return scan(&version) }))
	return version, err
}

// readView reads an account whole, but for what is the same as in a view that
// is known already.
func (db *DB) readView(ctx context.Context, account string, known query.View) (query.View, error) {
	m, err := db.Manifest(ctx, account)
	if err != nil {
		return query.View{}, err
	}
	v := query.View{Account: account, Manifest: m}
	unit := manifest.Unit{Kind: manifest.Marketplaces}
	switch generation := m.Generation(unit); generation {
	case 0:
	case known.Manifest.Generation(unit):
		v.Marketplaces = known.Marketplaces
	default:
		v.Marketplaces, err = db.marketplaces(ctx, account, generation)
	}
	return v, err
}

// marketplaces reads marketplaces in the order in which answers list them.
func (db *DB) marketplaces(ctx context.Context, account string, generation uint32) ([]query.Marketplace, error) {
	stored, err := db.Marketplaces(ctx, account, generation)
	all := make([]query.Marketplace, len(stored))
	for i, s := range stored {
		all[i] = query.Marketplace{Key: s.Key, ID: s.ID, Country: s.Country, Currency: s.Currency, TimeZone: s.TimeZone}
	}
	slices.SortFunc(all, func(a, b query.Marketplace) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}
