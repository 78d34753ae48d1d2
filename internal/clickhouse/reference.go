package clickhouse

import (
	"context"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/query"
	"adlens/loader"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/shopspring/decimal"
)

func number(n uint32) string { return fmt.Sprint(n) }

// of are the parameters of a statement on one generation of an account's
// small table.
func of(account string, generation uint32) Params {
	return Params{"account": query.Text(account), "generation": number(generation)}
}

// Marketplaces reads the account's marketplaces in the order of their keys.
func (db *DB) Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error) {
	return collect(ctx, db, `
SELECT marketplace_key, marketplace_id, country_code, currency_code, timezone, vendor, name
FROM marketplaces
WHERE account_id = {account:String} AND generation = {generation:UInt32}
ORDER BY marketplace_key`, of(account, generation), func(scan func(...any) error) (loader.Marketplace, error) {
		var m loader.Marketplace
		err := scan(&m.Key, &m.ID, &m.Country, &m.Currency, &m.TimeZone, &m.Vendor, &m.Name)
		return m, err
	})
}

// InsertMarketplaces writes all marketplaces under a new generation.
func (db *DB) InsertMarketplaces(ctx context.Context, account string, generation uint32, all []loader.Marketplace) error {
	return db.insert(ctx, account, "INSERT INTO marketplaces (account_id, generation, marketplace_key, marketplace_id, country_code, currency_code, timezone, vendor, name)",
		func(batch driver.Batch) error {
			for _, m := range all {
				if err := batch.Append(account, generation, m.Key, m.ID, m.Country, m.Currency, m.TimeZone, m.Vendor, m.Name); err != nil {
					return err
				}
			}
			return nil
		})
}

// Rates reads the account's rates.
func (db *DB) Rates(ctx context.Context, account string, generation uint32) (loader.Rates, error) {
	type row struct {
		currency string
		rate     loader.Rate
	}
	all, err := collect(ctx, db, `
SELECT currency, day, usd
FROM rates
WHERE account_id = {account:String} AND generation = {generation:UInt32}
ORDER BY currency, day`, of(account, generation), func(scan func(...any) error) (row, error) {
		var (
			r   row
			day time.Time
			usd decimal.Decimal
		)
		if err := scan(&r.currency, &day, &usd); err != nil {
			return r, err
		}
		amount, err := adlens.ParseAmount([]byte(usd.String()))
		r.rate = loader.Rate{Day: adlens.DayOf(day), USD: amount}
		return r, err
	})
	rates := loader.Rates{}
	for _, r := range all {
		rates[r.currency] = append(rates[r.currency], r.rate)
	}
	return rates, err
}

// InsertRates writes all rates under a new generation.
func (db *DB) InsertRates(ctx context.Context, account string, generation uint32, all loader.Rates) error {
	return db.insert(ctx, account, "INSERT INTO rates (account_id, generation, currency, day, usd)", func(batch driver.Batch) error {
		for currency, rates := range all {
			for _, r := range rates {
				if err := batch.Append(account, generation, currency, r.Day.Time(), unitsDecimal(r.USD)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Titles reads the titles of the account's products by id.
func (db *DB) Titles(ctx context.Context, account string, generation uint32) (map[string]string, error) {
	return db.pairs(ctx, `
SELECT product_id, title
FROM product_titles
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, of(account, generation))
}

func (db *DB) pairs(ctx context.Context, sql string, params Params) (map[string]string, error) {
	type pair struct{ key, value string }
	all, err := collect(ctx, db, sql, params, func(scan func(...any) error) (pair, error) {
		var p pair
		err := scan(&p.key, &p.value)
		return p, err
	})
	found := make(map[string]string, len(all))
	for _, p := range all {
		found[p.key] = p.value
	}
	return found, err
}

// InsertTitles writes all titles under a new generation.
func (db *DB) InsertTitles(ctx context.Context, account string, generation uint32, all map[string]string) error {
	return db.insert(ctx, account, "INSERT INTO product_titles (account_id, generation, product_id, title)", func(batch driver.Batch) error {
		for id, title := range all {
			if err := batch.Append(account, generation, id, title); err != nil {
				return err
			}
		}
		return nil
	})
}

// ProductNumbers reads the stored number of each of the account's products.
func (db *DB) ProductNumbers(ctx context.Context, account string, generation uint32) (map[string]uint32, error) {
	ids, err := db.ProductIDs(ctx, account, generation)
	keys := make(map[string]uint32, len(ids))
	for key, id := range ids {
		keys[id] = key
	}
	return keys, err
}

// ProductIDs reads the ids of products by their stored numbers.
func (db *DB) ProductIDs(ctx context.Context, account string, generation uint32) (map[uint32]string, error) {
	type pair struct {
		key uint32
		id  string
	}
	all, err := collect(ctx, db, `
SELECT product_key, product_id
FROM products
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, of(account, generation),
		func(scan func(...any) error) (pair, error) {
			var p pair
			err := scan(&p.key, &p.id)
			return p, err
		})
	ids := make(map[uint32]string, len(all))
	for _, p := range all {
		ids[p.key] = p.id
	}
	return ids, err
}

// InsertProductNumbers writes the numbers of all products under a new generation.
func (db *DB) InsertProductNumbers(ctx context.Context, account string, generation uint32, all map[string]uint32) error {
	return db.insert(ctx, account, "INSERT INTO products (account_id, generation, product_key, product_id)", func(batch driver.Batch) error {
		for id, key := range all {
			if err := batch.Append(account, generation, key, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Ledger reads which report files were loaded.
func (db *DB) Ledger(ctx context.Context, account string) (map[loader.LedgerKey]bool, error) {
	all, err := collect(ctx, db, `SELECT DISTINCT report_id, sha256 FROM ledger WHERE account_id = {account:String}`,
		Params{"account": query.Text(account)}, func(scan func(...any) error) (loader.LedgerKey, error) {
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

// InsertLedger notes loaded report files.
func (db *DB) InsertLedger(ctx context.Context, account string, lines []loader.LedgerLine) error {
	now := time.Now().UTC()
	return db.insert(ctx, account, "INSERT INTO ledger (account_id, sha256, file, report_id, fact_rows, loaded_at)", func(batch driver.Batch) error {
		for _, l := range lines {
			if err := batch.Append(account, l.SHA256, l.File, l.ReportID, l.Rows, now); err != nil {
				return err
			}
		}
		return nil
	})
}
