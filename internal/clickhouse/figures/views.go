package figures

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/recent"
)

// maxViewBytes bounds the memory of all remembered views. Three years of daily reports of
// five profiles and three ad products take some 3 MB.
const maxViewBytes = 256 << 20

// views are the views of accounts as they are read from the database.
type views struct{ *Store }

func newViews(s *Store) *recent.Views[query.View] {
	return recent.NewViews(views{s}, maxViewBytes, query.View.MemoryBytes)
}

// Mark is the account's on this machine.
func (s views) Mark(account string) (mark uint64, settled bool) {
	return s.cluster.Home().Mark(account)
}

// Version reads the number of the load that was visible last.
func (s views) Version(ctx context.Context, account string) (version uint32, err error) {
	s.cluster.CatchUp("commits")
	err = s.cluster.Read(ctx, "SELECT max(number) FROM commits WHERE account_id = {account:String}",
		conn.Params{"account": query.Text(account)}, conn.ScanInto(&version))
	return version, err
}

// View reads an account whole, but for what is the same as in a view that
// is known already.
func (s views) View(ctx context.Context, account string, known query.View) (query.View, uint32, error) {
	v, err := s.readView(ctx, account, known)
	return v, v.Manifest.Version, err
}

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
	all, err := s.readListedLegacy(ctx, account, lists, sources.Forms)
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
// name is that of the list, where one has the campaign, or else one that the marketplace gave.
func (s *Store) readUnsaidLegacy(ctx context.Context, account string, lists []uint32, of query.UnsaidSources) ([]query.LegacyCampaign, error) {
	return conn.Collect(ctx, s.cluster, `
SELECT marketplace_key, entity_id, if(max(list.name) != '', max(list.name), max(if(has(named_in, fact.marketplace_key), given[indexOf(named_in, fact.marketplace_key)], if(empty(named_in), entity.name, given[indexOf(named_in, 0)])))), arraySort(groupUniqArray(day))
FROM (
    SELECT marketplace_key, campaign_key, day
    FROM facts
    WHERE account_id = {account:String} AND generation IN {legacy:Array(UInt32)} AND (impressions > 0 OR clicks > 0 OR purchases > 0 OR spend > 0 OR sales > 0)
        AND (marketplace_key, campaign_key, day) NOT IN (
            SELECT marketplace_key, campaign_key, day FROM facts WHERE account_id = {account:String} AND generation IN {v3:Array(UInt32)})
) AS fact
INNER JOIN (
    SELECT entity_key, entity_id, name, marketplace_keys AS named_in, marketplace_names AS given FROM entities WHERE account_id = {account:String} AND generation = {entities:UInt32} AND entity_type = 1
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
// out, by name and id. Where the list that is held does not say, any other that did
// counts.
func (s *Store) readListedLegacy(ctx context.Context, account string, generations []uint32, forms uint32) ([]query.LegacyCampaign, error) {
	return conn.Collect(ctx, s.cluster, `
SELECT marketplace_key, campaign_id, name, start_date, end_date
FROM campaigns
WHERE account_id = {account:String} AND generation IN {generations:Array(UInt32)} AND (legacy = 1 OR legacy = 2 AND (marketplace_key, campaign_id) IN (
    SELECT marketplace_key, campaign_id FROM campaign_forms WHERE account_id = {account:String} AND generation = {forms:UInt32} AND one_ad_group = 1))
ORDER BY name, campaign_id`, conn.Params{"account": query.Text(account), "generations": query.Numbers(generations), "forms": conn.Number(forms)},
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
