package query

import (
	"context"

	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// listCountsMemory bounds the counts that are kept, in bytes: those of some
// thousand accounts.
const listCountsMemory = 1 << 20

// listCounts keeps how many of each kind an account's lists hold. Like day
// totals, they belong to generations, whose rows never change: a load of
// figures does not have the lists counted again, and nothing in it expires.
type listCounts struct {
	store   ListStore
	known   *lru.Cache[listsKey, []ListCount]
	flights flight.Group[listsKey, []ListCount]
}

// listsKey names the lists of an account by their generations.
type listsKey struct{ account, campaigns, adGroups, ads string }

func listsKeyOf(v View) listsKey {
	of := func(k manifest.Kind) string { return Numbers(v.listGenerations(k, manifest.Any)) }
	return listsKey{v.Account, of(manifest.Campaigns), of(manifest.AdGroups), of(manifest.Ads)}
}

func newListCounts(store ListStore) *listCounts {
	return &listCounts{store: store, known: lru.New(listCountsMemory, func(k listsKey, counts []ListCount) int {
		return 200 + len(k.account) + len(k.campaigns) + len(k.adGroups) + len(k.ads) + 16*len(counts)
	})}
}

// getCounts returns the counts of the account's lists. Those without rows are not
// among them.
func (l *listCounts) getCounts(ctx context.Context, v View) ([]ListCount, error) {
	key := listsKeyOf(v)
	if key.campaigns == Numbers[uint32](nil) {
		return nil, nil // what belongs to no listed campaign does not count
	}
	if counts, ok := l.known.Get(key); ok {
		return counts, nil
	}
	return l.flights.Do(ctx, key, func(ctx context.Context) ([]ListCount, error) {
		counts, err := l.store.ListCounts(ctx, v.listStatement("list_counts", ListRequest{Paging: Paging{Page: 1}}))
		if err == nil {
			l.known.Put(key, counts)
		}
		return counts, err
	})
}
