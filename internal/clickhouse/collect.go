package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adlens/internal/query"
	"adlens/loader"
)

// generationTables are the tables whose rows live and die with a generation.
var generationTables = []string{"facts", "day_totals", "month_products", "year_products", "marketplaces", "rates", "product_titles",
	"campaigns", "ad_groups", "ads", "rules", "rule_runs", "activity"}

// noteDead writes down generations of a table that are not live. The caller
// is the account's only writer, so what is not live now was superseded, or
// left behind by a crash; it will never be live.
const noteDead = `
INSERT INTO dead_generations (account_id, table_name, generation, found_at)
SELECT DISTINCT account_id, {table:String}, generation, now64(3)
FROM %s
WHERE account_id = {account:String}
  AND generation NOT IN (SELECT argMax(generation, version) FROM manifest WHERE account_id = {account:String}
                         GROUP BY kind, marketplace_key, ad_product, start)
  AND generation NOT IN (SELECT generation FROM dead_generations WHERE account_id = {account:String} AND table_name = {table:String})`

// ripe are the dead generations that no query can still be reading.
const ripe = `
SELECT generation
FROM dead_generations
WHERE account_id = {account:String} AND table_name = {table:String}
GROUP BY generation
HAVING min(found_at) <= now64(3) - {seconds:UInt32}`

// Collect deletes the rows of generations that were found dead longer ago
// than after, and notes those that are dead now.
func (db *DB) Collect(ctx context.Context, account string, after time.Duration) error {
	for _, table := range generationTables {
		params := Params{"account": query.Text(account), "table": table, "seconds": number(uint32(after.Seconds()))}
		if err := db.exec(ctx, fmt.Sprintf(noteDead, table), params); err != nil {
			return err
		}
		if err := db.deleteRipe(ctx, table, params); err != nil {
			return fmt.Errorf("deleting dead rows of %s: %w", table, err)
		}
	}
	return nil
}

func (db *DB) deleteRipe(ctx context.Context, table string, params Params) error {
	dead, err := collect(ctx, db, ripe, params, func(scan func(...any) error) (uint32, error) {
		var g uint32
		err := scan(&g)
		return g, err
	})
	if err != nil || len(dead) == 0 {
		return err
	}
	for some := range slices.Chunk(dead, deletedAtOnce) {
		if err := db.deleteGenerations(ctx, table, params, some); err != nil {
			return err
		}
	}
	return nil
}

// deletedAtOnce bounds the length of a statement's parameters.
const deletedAtOnce = 10_000

func (db *DB) deleteGenerations(ctx context.Context, table string, params Params, dead []uint32) error {
	params["dead"] = query.Numbers(dead)
	err := db.exec(ctx, "DELETE FROM "+table+" WHERE account_id = {account:String} AND generation IN {dead:Array(UInt32)}", params)
	if err != nil {
		return err
	}
	return db.exec(ctx, "DELETE FROM dead_generations WHERE account_id = {account:String} AND table_name = {table:String} AND generation IN {dead:Array(UInt32)}", params)
}

var _ loader.Store = (*LoadStore)(nil)

// Locker lets one process at a time do a thing that has a name. To write an
// account's data is named like the account.
type Locker interface {
	Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error)
	Try(ctx context.Context, name string) (release func() error, ok bool, err error)
	Held(ctx context.Context, name string) (bool, error)
}

// LoadStore is the database as the loader sees it.
type LoadStore struct {
	*DB
	Locker
}
