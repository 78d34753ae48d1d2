package connector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// UnreadLists is the error of some lists of a marketplace that could not be read,
// where others were: each rests for itself.
type UnreadLists struct{ error }

// Unwrap returns what went wrong with each of them.
func (e *UnreadLists) Unwrap() error { return e.error }

// ReadLists reads a marketplace's campaigns, ad groups and ads from the platform,
// each list for itself, and puts what was read in the place of what is held. A list
// that fails stays as it is held, and rests for longer after each failure in a row;
// the error is an *UnreadLists where others were read. An ad product that the
// platform never gave the profile, as it refuses authors Sponsored Brands, is a
// notice.
func (c *Connector) ReadLists(ctx context.Context, account, marketplaceID string) error {
	return c.readLists(ctx, account, platform.Profile{ID: marketplaceID}, false)
}

// readLists reads lists that rest only where it is eager. A profile without a currency is
// looked up on the platform.
func (c *Connector) readLists(ctx context.Context, account string, profile platform.Profile, eager bool) error {
	connection, found, err := c.connectionOf(ctx, account, profile.ID)
	if err == nil && !found {
		err = fmt.Errorf("profile %s belongs to no connection of account %q", profile.ID, account)
	}
	if err != nil {
		return err
	}
	client, err := c.openClient(connection)
	if err != nil {
		return err
	}
	r := &listReader{store: c.Store, client: client, account: account, profile: profile.ID, currency: profile.Currency, eager: eager,
		failed: map[loader.ListName]error{}, before: map[loader.ListName]int{}, refused: map[adlens.AdProduct]error{}}
	if err := inTurn(ctx, c.holds, func() error { return c.readAndStore(ctx, connection, r) }); err != nil {
		return err
	}
	if len(r.read) == 0 { // it is the marketplace that rests
		return r.listErrors()
	}
	for _, p := range slices.Sorted(maps.Keys(r.refused)) {
		c.Notice(account, fmt.Sprintf("lists of %s without what the platform refuses: %v", profile.ID, r.refused[p]))
	}
	return r.noteOutcome(ctx)
}

// readAndStore reads the lists of a profile while not too many others are read. It keeps
// no place among those while it waits for the account's lock, which another process may
// hold for long.
func (c *Connector) readAndStore(ctx context.Context, connection adlens.Connection, r *listReader) error {
	err := inTurn(ctx, c.reads, func() error {
		if err := r.readCurrency(ctx); err != nil {
			return err
		}
		r.readAll(ctx)
		return r.accountError()
	})
	if err := c.noteAccepted(ctx, connection, err); err != nil {
		return err
	}
	return c.replaceLists(ctx, r)
}

// inTurn does something that so many do at once as there are places.
func inTurn(ctx context.Context, places chan struct{}, do func() error) error {
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readListsOf reads the lists of profiles of which no process did within half an hour.
// A person waits for it, so what failed does not rest. Figures need no list: one that
// fails is a notice.
func (c *Connector) readListsOf(ctx context.Context, account string, profiles []platform.Profile) {
	var all sync.WaitGroup
	for _, p := range profiles {
		all.Go(func() {
			if err := c.readListsNow(ctx, account, p); err != nil {
				c.Notice(account, fmt.Sprintf("not all lists of campaigns of profile %s could be read; those that failed stay as they are: %v", p.ID, err))
			}
		})
	}
	all.Wait()
}

func (c *Connector) readListsNow(ctx context.Context, account string, profile platform.Profile) error {
	w := work{store: c.Store, locks: c.Locks, name: ListsWork(account, profile.ID), rest: func(failures int) time.Duration {
		if failures == 0 {
			return listLife
		}
		return 0
	}, outcome: func(before int, _ error) int { return max(before, 1) }} // a server rests for no longer, however often a person tries
	for {
		end, turn, err := w.beginWork(ctx)
		switch {
		case err != nil || turn == resting:
			return err
		case turn == free:
			err := c.readLists(ctx, account, profile, true)
			return errors.Join(err, end(marketError(err)))
		}
		if err := c.awaitLists(ctx, account, profile.ID); err != nil {
			return err
		}
	}
}

// awaitLists waits until no process reads the lists of a profile, but not for long: one
// that cannot reach the platform tries for an hour.
func (c *Connector) awaitLists(ctx context.Context, account, profileID string) error {
	ctx, cancel := context.WithTimeout(ctx, othersPatience)
	defer cancel()
	release, err := c.Locks.Lock(ctx, ListsWork(account, profileID), func(holder string) {
		c.Notice(account, fmt.Sprintf("waiting for the lists of campaigns of profile %s, which are being read (%s)", profileID, holder))
	})
	if err != nil {
		return err
	}
	return release()
}

// replaceLists makes what was read the account's. Lists that lost most of their rows
// are read a second time, and left out where they differ.
func (c *Connector) replaceLists(ctx context.Context, r *listReader) error {
	for {
		err := c.storeLists(ctx, r.account, loader.Lists{ProfileID: r.profile, Currency: r.currency, Read: r.read, Refused: slices.Collect(maps.Keys(r.refused))})
		var lost *loader.LostMost
		var leftOut *loader.LeftOut
		switch {
		case errors.As(err, &lost):
			r.confirmList(ctx, lost)
		case errors.As(err, &leftOut):
			r.failed[loader.ListName{Entity: platform.Ads, AdProduct: leftOut.AdProduct}] = fmt.Errorf("%w: %w", leftOut, r.refused[leftOut.AdProduct])
			delete(r.refused, leftOut.AdProduct)
		default:
			return err
		}
	}
}

// listReader reads the lists of a profile.
type listReader struct {
	store            Store
	client           *api.Client
	account, profile string
	currency         string // in which the platform lists the profile; "" until it is known
	eager            bool   // a person waits: lists that failed do not rest, and are waited for less long

	mu      sync.Mutex
	read    []loader.List
	failed  map[loader.ListName]error
	before  map[loader.ListName]int // how often a list had failed in a row, where it had
	refused map[adlens.AdProduct]error
}

// readCurrency asks the platform in which currency it lists the profile: lists have
// amounts without one. A profile that it lists no more, or that is not sound, is an error.
func (r *listReader) readCurrency(ctx context.Context) error {
	if r.currency != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	found, err := listProfiles(ctx, r.client)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found.profiles, func(p platform.Profile) bool { return p.ID == r.profile })
	if i < 0 {
		return fmt.Errorf("the platform no longer lists profile %s", r.profile)
	}
	if fault := found.faults[r.profile]; fault != nil {
		return r.client.HideSecrets(fmt.Errorf("profile %s is left out: %w", r.profile, fault))
	}
	r.currency = found.profiles[i].Currency
	return nil
}

// readAll reads the lists that do not rest. Ad products are read concurrently: one
// that has to wait keeps no other waiting.
func (r *listReader) readAll(ctx context.Context) {
	patience := readPatience
	if r.eager {
		patience = listPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all sync.WaitGroup
	for _, p := range adlens.AdProducts {
		all.Go(func() { r.readAdProduct(ctx, p) })
	}
	all.Wait()
}

// readAdProduct reads the lists of an ad product. One whose very first list the
// platform refuses is one that it does not give this profile; Sponsored Products
// are everybody's.
//
// Parents are read after their children: what is created in between is then an
// unknown child nowhere.
func (r *listReader) readAdProduct(ctx context.Context, p adlens.AdProduct) {
	for _, name := range loader.ListNames() {
		if name.AdProduct != p || r.isResting(ctx, name) {
			continue
		}
		list, err := r.readList(ctx, name)
		if r.keepList(name, list, err) {
			return
		}
	}
}

// keepList keeps what came of reading a list, and reports whether the platform
// refuses the ad product, or all that the credentials could be used for.
func (r *listReader) keepList(name loader.ListName, list loader.List, err error) (stop bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.read = append(r.read, list)
	case errors.Is(err, api.Refused) && !errors.Is(err, api.Closed) && name.Entity == platform.Ads && name.AdProduct != adlens.SponsoredProducts:
		r.refused[name.AdProduct] = err
		return true
	default:
		r.failed[name] = err
	}
	return errors.Is(err, api.Unauthorized)
}

// listRest is how long a list rests that failed so often in a row. A reading of its
// marketplace begins no sooner than half an hour after the one before, and takes
// time: the next one tries a list that failed once again.
var listRest = exponentialBackoff(listLife/2, 2, longestRest)

// isResting reports whether a list failed not long ago.
func (r *listReader) isResting(ctx context.Context, name loader.ListName) bool {
	attempt, found, err := r.store.Attempt(ctx, ListWork(r.account, r.profile, name))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed[name] = err
		return true
	}
	if found && attempt.Failures > 0 {
		r.before[name] = attempt.Failures
		return !r.eager && !isLongAgo(attempt, listRest(attempt.Failures))
	}
	return false
}

// ListWork is the name under which the failures of one list of a marketplace are
// noted.
func ListWork(account, marketplaceID string, name loader.ListName) string {
	return fmt.Sprintf("%s/%s/%s", ListsWork(account, marketplaceID), name.AdProduct, name.Entity)
}

// readList reads one list to its end.
func (r *listReader) readList(ctx context.Context, name loader.ListName) (l loader.List, err error) {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	l.ListName = name
	switch name.Entity {
	case platform.Campaigns:
		l.Campaigns, l.Sure, err = splitList(r.client.Campaigns(ctx, r.profile, name.AdProduct))
	case platform.AdGroups:
		l.AdGroups, l.Sure, err = splitList(r.client.AdGroups(ctx, r.profile, name.AdProduct))
	case platform.Ads:
		l.Ads, l.Sure, err = splitList(r.client.Ads(ctx, r.profile, name.AdProduct))
	}
	l.ReadAt = time.Now().UTC().Truncate(time.Millisecond)
	return l, err
}

func splitList[T any](list api.List[T], err error) ([]T, bool, error) {
	return list.Rows, list.Stated, err
}

// confirmList reads a list again that lost most of its rows, of which the platform
// states no number: twice the same is believed, and anything else is a failure.
func (r *listReader) confirmList(ctx context.Context, lost *loader.LostMost) {
	at := slices.IndexFunc(r.read, func(l loader.List) bool { return l.ListName == lost.ListName })
	again, err := r.readList(ctx, lost.ListName)
	if err == nil && !maps.Equal(countIDs(again), countIDs(r.read[at])) {
		err = fmt.Errorf("%w; read a second time, it is another list", lost)
	}
	if err != nil {
		r.failed[lost.ListName] = err
		r.read = slices.Delete(r.read, at, at+1)
		return
	}
	r.read[at].Sure = true
}

// countIDs counts how often each id is in a list.
func countIDs(l loader.List) map[string]int {
	count := map[string]int{}
	for _, c := range l.Campaigns {
		count[c.ID]++
	}
	for _, g := range l.AdGroups {
		count[g.ID]++
	}
	for _, a := range l.Ads {
		count[a.ID]++
	}
	return count
}

// listErrors are what went wrong with each list, in one line of text.
func (r *listReader) listErrors() (all error) {
	for _, name := range loader.ListNames() {
		switch err := r.failed[name]; {
		case all == nil:
			all = err
		case err != nil:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// accountError is what went wrong where it is not about single lists: none could be
// read, or the platform does not take the credentials.
func (r *listReader) accountError() error {
	if err := r.listErrors(); len(r.read) == 0 || errors.Is(err, api.Unauthorized) {
		return err
	}
	return nil
}

// noteOutcome notes which lists failed, so that they rest, and which do no longer.
func (r *listReader) noteOutcome(ctx context.Context) error {
	var noted error
	for name := range r.failed {
		failures := r.before[name]
		if failures == 0 || !r.eager {
			failures++
		}
		noted = errors.Join(noted, r.store.BeginAttempt(ctx, ListWork(r.account, r.profile, name), failures))
	}
	for _, l := range r.read {
		if r.before[l.ListName] > 0 {
			noted = errors.Join(noted, r.store.EndAttempt(ctx, ListWork(r.account, r.profile, l.ListName), 0))
		}
	}
	if err := r.listErrors(); err != nil && noted == nil {
		return &UnreadLists{err}
	}
	return errors.Join(r.listErrors(), noted)
}
