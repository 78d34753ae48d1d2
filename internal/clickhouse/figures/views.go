package figures

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// maxViewUnits bounds the units of all remembered views: some 50 MB.
const maxViewUnits = 200_000

// views remembers what was read of accounts, and finds out whether it is
// still true: by the account's mark where all writers are on this machine,
// else by asking for the version. A view is never older than the request.
type views struct {
	store *Store
	known *lru.Cache[string, knownView]

	questions flight.Group[question, query.View]
	mu        sync.Mutex
	turns     map[string]*turn // one for each account that was requested
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

func newViews(s *Store) *views {
	return &views{store: s, turns: map[string]*turn{},
		known: lru.New(maxViewUnits, func(_ string, k knownView) int { return 1 + k.view.Manifest.Len() + len(k.view.Legacy) })}
}

// current returns the view of this moment.
func (vs *views) current(ctx context.Context, account string) (query.View, error) {
	known, ok := vs.known.Get(account)
	if ok && vs.isSettled(known) {
		return known.view, nil
	}
	t, q := vs.nextQuestion(account)
	return vs.questions.Do(ctx, q, func(ctx context.Context) (query.View, error) { return vs.answer(ctx, t, account) })
}

func (vs *views) isSettled(known knownView) bool {
	mark, settled := vs.store.cluster.Home().Mark(known.view.Account)
	return settled && mark == known.mark
}

// nextQuestion returns a question that begins after now, so that its answer is
// true for all who join it.
func (vs *views) nextQuestion(account string) (*turn, question) {
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
func (vs *views) answer(ctx context.Context, t *turn, account string) (query.View, error) {
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
	var next knownView
	var settled bool
	next.mark, settled = vs.store.cluster.Home().Mark(account)
	known, ok := vs.known.Get(account)
	if ok && !settled {
		version, err := vs.store.readVersion(ctx, account)
		if err != nil || version == known.view.Manifest.Version {
			return known.view, err
		}
	}
	var err error
	if next.view, err = vs.store.readView(ctx, account, known.view); err == nil {
		vs.known.Put(account, next)
	}
	return next.view, err
}

// readVersion reads the version of the load that was visible last.
func (s *Store) readVersion(ctx context.Context, account string) (version uint32, err error) {
	err = s.cluster.Read(ctx, "SELECT max(number) FROM commits WHERE account_id = {account:String}",
		conn.Params{"account": query.Text(account)}, conn.ScanInto(&version))
	return version, err
}

// readView reads an account whole, but for what is the same as in a view that
// is known already.
func (s *Store) readView(ctx context.Context, account string, known query.View) (query.View, error) {
	m, err := s.Manifest(ctx, account)
	if err != nil {
		return query.View{}, err
	}
	v := query.View{Account: account, Manifest: m}
	live, _ := m.Find(manifest.Unit{Kind: manifest.Marketplaces})
	switch live.Generation {
	case 0:
	case known.Manifest.Generation(live.Unit):
		v.Marketplaces = known.Marketplaces
	default:
		if v.Marketplaces, err = s.readMarketplaces(ctx, account, live); err != nil {
			return v, err
		}
	}
	switch lists, unsaid := v.BrandLists(), v.UnsaidSources(); {
	case len(lists) == 0 && unsaid.Legacy == nil:
	case slices.Equal(lists, known.BrandLists()) && unsaid.Equal(known.UnsaidSources()):
		v.Legacy = known.Legacy
	default:
		v.Legacy, err = s.readLegacyCampaigns(ctx, account, lists, unsaid)
	}
	return v, err
}

// readLegacyCampaigns reads the campaigns that reports leave out, by name and id: those
// of which a list says it, and those of which a legacy report does.
func (s *Store) readLegacyCampaigns(ctx context.Context, account string, lists []uint32, sources query.UnsaidSources) ([]query.LegacyCampaign, error) {
	all, err := s.readListedLegacy(ctx, account, lists)
	if err != nil || sources.Legacy == nil {
		return all, err
	}
	unsaid, err := s.readUnsaidLegacy(ctx, account, lists, sources)
	all = append(all, unsaid...)
	slices.SortFunc(all, func(a, b query.LegacyCampaign) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// readUnsaidLegacy reads the campaigns of which legacy reports have figures that v3
// ones leave out, and that do not count because no list says the campaign's form. The
// name is that of the list, where one has the campaign.
func (s *Store) readUnsaidLegacy(ctx context.Context, account string, lists []uint32, of query.UnsaidSources) ([]query.LegacyCampaign, error) {
	return conn.Collect(ctx, s.cluster, `
SELECT marketplace_key, entity_id, if(max(list.name) != '', max(list.name), any(entity.name)), arraySort(groupUniqArray(day))
FROM (
    SELECT marketplace_key, campaign_key, day
    FROM facts
    WHERE account_id = {account:String} AND generation IN {legacy:Array(UInt32)} AND (impressions > 0 OR clicks > 0 OR purchases > 0 OR spend > 0 OR sales > 0)
        AND (marketplace_key, campaign_key, day) NOT IN (
            SELECT marketplace_key, campaign_key, day FROM facts WHERE account_id = {account:String} AND generation IN {v3:Array(UInt32)})
) AS fact
INNER JOIN (
    SELECT entity_key, entity_id, name FROM entities WHERE account_id = {account:String} AND generation = {entities:UInt32} AND entity_type = 1
) AS entity ON entity.entity_key = fact.campaign_key
LEFT JOIN (
    SELECT marketplace_key AS listed_in, campaign_id, name FROM campaigns WHERE account_id = {account:String} AND generation IN {lists:Array(UInt32)}
) AS list ON list.listed_in = fact.marketplace_key AND list.campaign_id = entity.entity_id
WHERE (marketplace_key, entity_id) IN (
    SELECT marketplace_key, campaign_id FROM campaign_forms WHERE account_id = {account:String} AND generation = {forms:UInt32} AND one_ad_group = 2)
GROUP BY marketplace_key, entity_id`, conn.Params{"account": query.Text(account), "lists": query.Numbers(lists), "legacy": query.Numbers(of.Legacy), "v3": query.Numbers(of.V3),
		"forms": conn.Number(of.Forms), "entities": conn.Number(of.Entities)},
		func(scan conn.Scan) (c query.LegacyCampaign, err error) {
			var days []time.Time
			err = scan(&c.Marketplace, &c.ID, &c.Name, &days)
			for _, day := range days {
				c.Days = append(c.Days, adlens.DayOf(day))
			}
			return c, err
		})
}

// readListedLegacy reads the campaigns of which a list says that reports leave them
// out, by name and id.
func (s *Store) readListedLegacy(ctx context.Context, account string, generations []uint32) ([]query.LegacyCampaign, error) {
	return conn.Collect(ctx, s.cluster, `
SELECT marketplace_key, campaign_id, name, start_date, end_date
FROM campaigns
WHERE account_id = {account:String} AND generation IN {generations:Array(UInt32)} AND legacy = 1
ORDER BY name, campaign_id`, conn.Params{"account": query.Text(account), "generations": query.Numbers(generations)},
		func(scan conn.Scan) (c query.LegacyCampaign, err error) {
			var start, end *time.Time
			err = scan(&c.Marketplace, &c.ID, &c.Name, &start, &end)
			c.Start, c.End = dayOf(start), dayOf(end)
			return c, err
		})
}

// readMarketplaces reads marketplaces in the order in which answers list them. Where
// some are missing, the database may have been restarted since all rows were looked
// through: figures without them would be wrong.
func (s *Store) readMarketplaces(ctx context.Context, account string, live manifest.Entry) ([]query.Marketplace, error) {
	stored, err := s.Marketplaces(ctx, account, live.Generation)
	if err == nil && uint64(len(stored)) < live.Rows {
		err = &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("generation %d has %d marketplaces, expected %d", live.Generation, len(stored), live.Rows)}
	}
	all := make([]query.Marketplace, len(stored))
	for i, m := range stored {
		all[i] = query.Marketplace{Key: m.Key, ID: m.ID, Country: m.Country, Currency: m.Currency, TimeZone: m.TimeZone}
	}
	slices.SortFunc(all, func(a, b query.Marketplace) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}
