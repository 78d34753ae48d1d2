package loads

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/query"
	"adlens/loader"

	"github.com/shopspring/decimal"
)

// ListStore is the lists of an account, as a load writes and reads them.
type ListStore struct{ cluster *cluster.Cluster }

// ofGeneration returns the parameters of a statement on one generation of an
// account's small table.
func ofGeneration(account string, generation uint32) conn.Params {
	return conn.Params{"account": query.Text(account), "generation": conn.Number(generation)}
}

// insertRows writes one row for each pair of all.
func insertRows[K, V any](ctx context.Context, c *cluster.Cluster, account, columns string, all iter.Seq2[K, V], appendOne func(conn.Batch, K, V) error) error {
	return c.Insert(ctx, account, columns, func(batch conn.Batch) error {
		for k, v := range all {
			if err := appendOne(batch, k, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// Marketplaces reads the account's marketplaces in the order of their keys.
func (l ListStore) Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error) {
	return conn.Collect(ctx, l.cluster, `
SELECT marketplace_key, marketplace_id, country_code, currency_code, timezone, vendor, name
FROM marketplaces
WHERE account_id = {account:String} AND generation = {generation:UInt32}
ORDER BY marketplace_key`, ofGeneration(account, generation), func(scan conn.Scan) (loader.Marketplace, error) {
		var m loader.Marketplace
		err := scan(&m.Key, &m.ID, &m.Country, &m.Currency, &m.TimeZone, &m.Vendor, &m.Name)
		return m, err
	})
}

// InsertMarketplaces writes all marketplaces under a new generation.
func (l ListStore) InsertMarketplaces(ctx context.Context, account string, generation uint32, all []loader.Marketplace) error {
	const columns = "INSERT INTO marketplaces (account_id, generation, marketplace_key, marketplace_id, country_code, currency_code, timezone, vendor, name)"
	return insertRows(ctx, l.cluster, account, columns, slices.All(all), func(batch conn.Batch, _ int, m loader.Marketplace) error {
		return batch.Append(account, generation, m.Key, m.ID, m.Country, m.Currency, m.TimeZone, m.Vendor, m.Name)
	})
}

// ProfilesElsewhere looks through the marketplaces of all accounts, of which there are few rows,
// and takes those of generations that some commit names: others are what an interrupted load has
// left. Of a load that was ended between its units and its commit it may name the account wrongly.
func (l ListStore) ProfilesElsewhere(ctx context.Context, account string, profiles []string) ([]loader.ProfileHolder, error) {
	const found = " FROM marketplaces WHERE marketplace_id IN splitByChar(',', {profiles:String}) AND account_id != {account:String}"
	params := conn.Params{"account": query.Text(account), "profiles": strings.Join(profiles, ","), "kind": conn.Number(uint16(manifest.Marketplaces))}
	var adding sync.Mutex
	var all []loader.ProfileHolder
	err := l.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		here, err := conn.Collect(ctx, s, `
SELECT DISTINCT marketplace_id, account_id`+found+` AND (account_id, generation) IN (
    SELECT account_id, generation FROM commit_units
    WHERE kind = {kind:UInt8} AND account_id IN (SELECT account_id`+found+`))`, params, func(scan conn.Scan) (h loader.ProfileHolder, err error) {
			err = scan(&h.ProfileID, &h.Account)
			return h, err
		})
		adding.Lock()
		defer adding.Unlock()
		all = append(all, here...)
		return err
	})
	slices.SortFunc(all, func(a, b loader.ProfileHolder) int {
		return cmp.Or(cmp.Compare(a.ProfileID, b.ProfileID), cmp.Compare(a.Account, b.Account))
	})
	return slices.Compact(all), err
}

// Rates reads the account's rates.
func (l ListStore) Rates(ctx context.Context, account string, generation uint32) (loader.Rates, error) {
	type row struct {
		currency string
		fetched  bool
		rate     loader.Rate
	}
	all, err := conn.Collect(ctx, l.cluster, `
SELECT currency, fetched, day, usd, as_of
FROM rates
WHERE account_id = {account:String} AND generation = {generation:UInt32}
ORDER BY currency, day`, ofGeneration(account, generation), func(scan conn.Scan) (row, error) {
		var (
			r   row
			usd decimal.Decimal

			day, asOf time.Time
		)
		if err := scan(&r.currency, &r.fetched, &day, &usd, &asOf); err != nil {
			return r, err
		}
		amount, err := adlens.ParseAmount([]byte(usd.String()))
		r.rate = loader.Rate{Day: adlens.DayOf(day), USD: amount, AsOf: adlens.DayOf(asOf)}
		return r, err
	})
	rates := loader.NewRates()
	for _, r := range all {
		table := rates.Table(r.fetched)
		table[r.currency] = append(table[r.currency], r.rate)
	}
	return rates, err
}

// RateSpans reads the first and the last day of the account's rates, by currency and
// where they come from.
func (l ListStore) RateSpans(ctx context.Context, account string, generation uint32) ([]loader.RateSpan, error) {
	return conn.Collect(ctx, l.cluster, `
SELECT currency, fetched, min(day), max(day)
FROM rates
WHERE account_id = {account:String} AND generation = {generation:UInt32}
GROUP BY currency, fetched
ORDER BY currency, fetched`, ofGeneration(account, generation), func(scan conn.Scan) (s loader.RateSpan, err error) {
		var first, last time.Time
		err = scan(&s.Currency, &s.Fetched, &first, &last)
		s.First, s.Last = adlens.DayOf(first), adlens.DayOf(last)
		return s, err
	})
}

// InsertRates writes all rates under a new generation.
func (l ListStore) InsertRates(ctx context.Context, account string, generation uint32, all loader.Rates) error {
	return l.cluster.Insert(ctx, account, "INSERT INTO rates (account_id, generation, currency, day, usd, fetched, as_of)", func(batch conn.Batch) error {
		for _, fetched := range []bool{false, true} {
			for currency, rates := range all.Table(fetched) {
				for _, r := range rates {
					if err := batch.Append(account, generation, currency, r.Day.Time(), unitsDecimal(r.USD), fetched, r.AsOf.Time()); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// unitsDecimal is a Decimal(38, 20) of an exact amount.
func unitsDecimal(a adlens.Amount) decimal.Decimal {
	return decimal.NewFromBigInt(a.Big(), -adlens.AmountDecimals)
}

// Titles reads the titles of the account's products by id.
func (l ListStore) Titles(ctx context.Context, account string, generation uint32) (map[string]string, error) {
	return conn.CollectMap[string, string](ctx, l.cluster, `
SELECT product_id, title
FROM product_titles
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, ofGeneration(account, generation))
}

// InsertTitles writes all titles under a new generation.
func (l ListStore) InsertTitles(ctx context.Context, account string, generation uint32, all map[string]string) error {
	const columns = "INSERT INTO product_titles (account_id, generation, product_id, title)"
	return insertRows(ctx, l.cluster, account, columns, maps.All(all), func(batch conn.Batch, id, title string) error {
		return batch.Append(account, generation, id, title)
	})
}

// ProductNumbers reads the stored number of each of the account's products.
func (l ListStore) ProductNumbers(ctx context.Context, account string, generation uint32) (map[string]uint32, error) {
	return conn.CollectMap[string, uint32](ctx, l.cluster, `
SELECT product_id, product_key
FROM products
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, ofGeneration(account, generation))
}

// InsertProductNumbers writes the numbers of all products under a new generation.
func (l ListStore) InsertProductNumbers(ctx context.Context, account string, generation uint32, all map[string]uint32) error {
	const columns = "INSERT INTO products (account_id, generation, product_key, product_id)"
	return insertRows(ctx, l.cluster, account, columns, maps.All(all), func(batch conn.Batch, id string, key uint32) error {
		return batch.Append(account, generation, key, id)
	})
}

// Entities reads the campaigns and ad groups that facts are of.
func (l ListStore) Entities(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]*loader.Entity, error) {
	all := map[adlens.EntityID]*loader.Entity{}
	_, err := conn.Collect(ctx, l.cluster, `
SELECT entity_key, entity_type, entity_id, named_in, if(empty(marketplace_keys), name, given), if(empty(marketplace_keys), named_at, given_at)
FROM entities LEFT ARRAY JOIN marketplace_keys AS named_in, marketplace_names AS given, marketplace_times AS given_at
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, ofGeneration(account, generation), func(scan conn.Scan) (none struct{}, err error) {
		var of adlens.EntityID
		var kind uint8
		var key uint32
		var named adlens.MarketplaceName
		err = scan(&key, &kind, &of.ID, &named.Marketplace, &named.Text, &named.At)
		of.Type = adlens.EntityType(kind)
		if all[of] == nil {
			all[of] = &loader.Entity{Key: key}
		}
		all[of].TakeName(named)
		return none, err
	})
	return all, err
}

// ListedNames reads the names of a list.
func (l ListStore) ListedNames(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]string, error) {
	const of = ` WHERE account_id = {account:String} AND generation = {generation:UInt32}`
	all := map[adlens.EntityID]string{}
	_, err := conn.Collect(ctx, l.cluster, `
SELECT toUInt8(1), campaign_id, name FROM campaigns`+of+`
UNION ALL
SELECT toUInt8(2), ad_group_id, name FROM ad_groups`+of, ofGeneration(account, generation), func(scan conn.Scan) (none struct{}, err error) {
		var kind uint8
		var id, name string
		err = scan(&kind, &id, &name)
		all[adlens.EntityID{Type: adlens.EntityType(kind), ID: id}] = name
		return none, err
	})
	return all, err
}

// storedForms are the forms of campaigns by how one_ad_group has them.
var storedForms = [...]platform.Form{0: platform.ManyAdGroups, 1: platform.OneAdGroup, 2: platform.UnknownForm}

// Forms reads what lists said of the forms of campaigns.
func (l ListStore) Forms(ctx context.Context, account string, generation uint32) (loader.Forms, error) {
	all := loader.Forms{}
	_, err := conn.Collect(ctx, l.cluster, `
SELECT marketplace_key, campaign_id, one_ad_group
FROM campaign_forms
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, ofGeneration(account, generation), func(scan conn.Scan) (none struct{}, err error) {
		var of loader.ListedCampaign
		var one uint8
		err = scan(&of.Marketplace, &of.ID, &one)
		if err == nil && int(one) >= len(storedForms) {
			err = fmt.Errorf("campaign %s has the form %d, expected up to %d", of.ID, one, len(storedForms)-1)
		}
		if err == nil {
			all[of] = storedForms[one]
		}
		return none, err
	})
	return all, err
}

// InsertForms writes what lists said of all campaigns under a new generation.
func (l ListStore) InsertForms(ctx context.Context, account string, generation uint32, all loader.Forms) error {
	const columns = "INSERT INTO campaign_forms (account_id, generation, marketplace_key, campaign_id, one_ad_group)"
	return insertRows(ctx, l.cluster, account, columns, maps.All(all), func(batch conn.Batch, of loader.ListedCampaign, form platform.Form) error {
		return batch.Append(account, generation, of.Marketplace, of.ID, uint8(slices.Index(storedForms[:], form)))
	})
}

// InsertEntities writes all campaigns and ad groups of facts under a new generation.
func (l ListStore) InsertEntities(ctx context.Context, account string, generation uint32, all map[adlens.EntityID]*loader.Entity) error {
	const columns = "INSERT INTO entities (account_id, generation, entity_key, entity_type, entity_id, name, named_at, marketplace_keys, marketplace_names, marketplace_times)"
	return insertRows(ctx, l.cluster, account, columns, maps.All(all), func(batch conn.Batch, of adlens.EntityID, e *loader.Entity) error {
		var newest adlens.DatedName
		markets, names, times := []uint16{}, []string{}, []time.Time{}
		for _, named := range e.Names {
			newest.Rename(named.Text, named.At)
			markets, names, times = append(markets, named.Marketplace), append(names, named.Text), append(times, storableTime(named.At))
		}
		return batch.Append(account, generation, e.Key, uint8(of.Type), of.ID, newest.Text, storableTime(newest.At), markets, names, times)
	})
}

// storableTime is a time as the store holds it; the zero time is its oldest.
func storableTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return t
}

// Ledger reads which report files were loaded.
func (l ListStore) Ledger(ctx context.Context, account string) (map[loader.LedgerKey]bool, error) {
	all, err := conn.Collect(ctx, l.cluster, `SELECT DISTINCT report_id, sha256 FROM ledger WHERE account_id = {account:String}`,
		conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (loader.LedgerKey, error) {
			var k loader.LedgerKey
			err := scan(&k.ReportID, &k.SHA256)
			return k, err
		})
	known := make(map[loader.LedgerKey]bool, len(all))
	for _, k := range all {
		known[k] = true
	}
	return known, err
}

// InsertLedger notes loaded report files. Under a lock that may be lost, a restore may have
// taken them back.
func (l ListStore) InsertLedger(ctx context.Context, account string, lines []loader.LedgerLine) error {
	if err := l.cluster.RequireHeld(account); err != nil {
		return fmt.Errorf("the reports that were loaded are not noted: %w", err)
	}
	now := time.Now().UTC()
	const columns = "INSERT INTO ledger (account_id, sha256, file, report_id, fact_rows, loaded_at)"
	return insertRows(ctx, l.cluster, account, columns, slices.All(lines), func(batch conn.Batch, _ int, line loader.LedgerLine) error {
		return batch.Append(account, line.SHA256, line.File, line.ReportID, line.Rows, now)
	})
}
