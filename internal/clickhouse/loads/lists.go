package loads

import (
	"context"
	"slices"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/platform"
	"adlens/loader"

	"github.com/shopspring/decimal"
)

// InsertCampaigns writes the campaigns of a list, each under the generation of
// its ad product; those of ad products without one are left out.
func (l ListStore) InsertCampaigns(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Campaign) error {
	const columns = `INSERT INTO campaigns (account_id, generation, campaign_id, name, marketplace_key, ad_product, state, targeting, budget, budget_type, start_date, end_date, legacy)`
	return insertEach(ctx, l.cluster, account, columns, all, func(batch conn.Batch, c platform.Campaign) error {
		generation, ok := generations[c.AdProduct]
		if !ok {
			return nil
		}
		return batch.Append(account, generation, c.ID, c.Name, marketplace, uint8(c.AdProduct), string(c.State), c.Targeting,
			orNullDecimal(c.Budget), c.BudgetType, orNullTime(c.Start), orNullTime(c.End), storedLegacy(c))
	})
}

// InsertAdGroups writes the ad groups of a list.
func (l ListStore) InsertAdGroups(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.AdGroup) error {
	const columns = `INSERT INTO ad_groups (account_id, generation, ad_group_id, campaign_id, name, marketplace_key, ad_product, state, default_bid)`
	return insertEach(ctx, l.cluster, account, columns, all, func(batch conn.Batch, g platform.AdGroup) error {
		generation, ok := generations[g.AdProduct]
		if !ok {
			return nil
		}
		return batch.Append(account, generation, g.ID, g.CampaignID, g.Name, marketplace, uint8(g.AdProduct), string(g.State), orNullDecimal(g.DefaultBid))
	})
}

// InsertAds writes the ads of a list.
func (l ListStore) InsertAds(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Ad) error {
	const columns = `INSERT INTO ads (account_id, generation, ad_id, ad_group_id, marketplace_key, ad_product, state)`
	return insertEach(ctx, l.cluster, account, columns, all, func(batch conn.Batch, a platform.Ad) error {
		generation, ok := generations[a.AdProduct]
		if !ok {
			return nil
		}
		return batch.Append(account, generation, a.ID, a.AdGroupID, marketplace, uint8(a.AdProduct), string(a.State))
	})
}

// insertEach sends rows in blocks: they are not visible before a commit names
// them.
func insertEach[T any](ctx context.Context, c *cluster.Cluster, account, columns string, all []T, appendOne func(conn.Batch, T) error) error {
	const block = 100_000
	for rows := range slices.Chunk(all, block) {
		err := insertRows(ctx, c, account, columns, slices.All(rows), func(batch conn.Batch, _ int, t T) error { return appendOne(batch, t) })
		if err != nil {
			return err
		}
	}
	return nil
}

// storedLegacy is 1 for a campaign that its list says reports leave out, and 2 for one
// of which it does not say: other lists decide then.
func storedLegacy(c platform.Campaign) uint8 {
	switch {
	case c.AdProduct != adlens.SponsoredBrands || c.Form == platform.ManyAdGroups:
		return 0
	case c.Form == platform.OneAdGroup:
		return 1
	}
	return 2
}

func orNullDecimal(a *adlens.Amount) *decimal.Decimal {
	if a == nil {
		return nil
	}
	return new(unitsDecimal(*a))
}

func orNullTime(d *adlens.Day) *time.Time {
	if d == nil {
		return nil
	}
	return new(d.Time())
}
