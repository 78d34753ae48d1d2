package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"adlens"
)

// rawTable is the plain table: one row for each fact, all accounts together,
// in the order in which a careful person would keep them. Numbers stand for
// marketplaces and ad products, which group twice as fast as texts; products,
// campaigns and ad groups are the platform's own ids, 0 where it names none. No
// request reads product_key: it is what equal rollups group by.
const rawTable = `CREATE TABLE bench_raw (
    account LowCardinality(String), day Date, marketplace UInt16, ad_product UInt8, product String, campaign UInt64, ad_group UInt64,
    impressions UInt64, clicks UInt64, purchases UInt64, spend Decimal(18, 6), sales Decimal(18, 6), product_key UInt32
) ENGINE = MergeTree ORDER BY (account, day, marketplace, ad_product, product, campaign, ad_group)`

// liveGenerations are an account's: of each unit the one of its newest commit.
// All commits are live here, where every load ends well.
const liveGenerations = `(SELECT argMax(generation, number) FROM commit_units
    WHERE account_id = {account:String} AND number IN (SELECT number FROM commits WHERE account_id = {account:String})
    GROUP BY kind, marketplace_key, ad_product, start)`

// liveEntities are the campaigns and ad groups of an account's facts.
const liveEntities = `(SELECT entity_key, entity_id FROM entities WHERE account_id = {account:String} AND generation IN ` + liveGenerations + `)`

// fillRaw copies the live facts of an account.
const fillRaw = `INSERT INTO bench_raw
SELECT account_id, day, marketplace_key, ad_product, k.product_id, toUInt64OrZero(c.entity_id), toUInt64OrZero(g.entity_id), impressions, clicks, purchases, spend, sales, facts.product_key
FROM facts
LEFT ANY JOIN (SELECT product_key, product_id FROM products WHERE account_id = {account:String} AND generation IN ` + liveGenerations + `) AS k ON k.product_key = facts.product_key
LEFT ANY JOIN ` + liveEntities + ` AS c ON c.entity_key = facts.campaign_key
LEFT ANY JOIN ` + liveEntities + ` AS g ON g.entity_key = facts.ad_group_key
WHERE account_id = {account:String} AND generation IN ` + liveGenerations

// raw is the straightforward SQL over the plain table, in the same engine.
type raw struct {
	engine *embedded
	places map[string]places // by account
}

// newRaw fills the plain table where it is not filled, and compares it with
// what was generated.
func newRaw(ctx context.Context, e *embedded, st *state, accounts []account, say func(string, ...any)) (*raw, error) {
	r := &raw{engine: e, places: map[string]places{}}
	for _, a := range accounts {
		at, err := e.readMarketplaces(ctx, a.id)
		if err != nil {
			return nil, err
		}
		r.places[a.id] = at
	}
	if st.Raw {
		return r, nil
	}
	if err := r.fillTable(ctx, accounts, say); err != nil {
		return nil, err
	}
	if err := r.checkTotals(ctx, st); err != nil {
		return nil, err
	}
	st.Raw = true
	return r, st.saveState()
}

func (r *raw) fillTable(ctx context.Context, accounts []account, say func(string, ...any)) error {
	began := time.Now()
	if err := r.dropTable(ctx); err != nil {
		return err
	}
	if _, err := r.engine.runStatement(ctx, sql{text: rawTable, writer: true}); err != nil {
		return err
	}
	for _, a := range accounts {
		if _, err := r.engine.runStatement(ctx, sql{text: fillRaw, params: map[string]string{"account": a.id}, writer: true}); err != nil {
			return err
		}
	}
	// A plain table that was filled a while ago is merged.
	if _, err := r.engine.runStatement(ctx, sql{text: "OPTIMIZE TABLE bench_raw FINAL", writer: true}); err != nil {
		return err
	}
	say("the raw table is filled and merged after %.1f s", time.Since(began).Seconds())
	return nil
}

// dropTable removes the plain table.
func (r *raw) dropTable(ctx context.Context) error {
	_, err := r.engine.runStatement(ctx, sql{text: "DROP TABLE IF EXISTS bench_raw SYNC", writer: true})
	return err
}

// checkTotals compares the plain table with the generator to the last millionth:
// whatever was lost, doubled or converted wrongly on the way is seen here.
func (r *raw) checkTotals(ctx context.Context, st *state) error {
	rows, err := r.engine.queryRows(ctx, sql{text: `SELECT account, count(), sum(impressions), sum(clicks), sum(purchases),
		toInt128(sum(spend) * 1000000), toInt128(sum(sales) * 1000000) FROM bench_raw GROUP BY account`})
	if err != nil {
		return err
	}
	if len(rows) != len(st.Totals) {
		return fmt.Errorf("the raw table has %d accounts, expected %d", len(rows), len(st.Totals))
	}
	for _, row := range rows {
		want := st.Totals[row[0]]
		for i, n := range []int64{want.Facts, want.Impressions, want.Clicks, want.Purchases, want.Spend, want.Sales} {
			if row[1+i] != strconv.FormatInt(n, 10) {
				return fmt.Errorf("account %s has %s %s in the raw table, and %d were generated", row[0], row[1+i],
					[]string{"rows", "impressions", "clicks", "purchases", "millionths of spend", "millionths of sales"}[i], n)
			}
		}
	}
	return nil
}

// readMarketplaces reads the stored keys of an account's marketplaces.
func (e *embedded) readMarketplaces(ctx context.Context, account string) (places, error) {
	rows, err := e.queryRows(ctx, sql{params: map[string]string{"account": account}, text: `SELECT marketplace_key, marketplace_id, country_code FROM marketplaces
		WHERE account_id = {account:String} AND generation IN ` + liveGenerations})
	if err != nil {
		return nil, err
	}
	at := places{}
	for _, row := range rows {
		key, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, err
		}
		at[key] = market{profile: row[1], country: row[2]}
	}
	return at, nil
}

// keysByCountry are the stored keys by country.
func (p places) keysByCountry() map[string]int {
	keys := map[string]int{}
	for key, m := range p {
		keys[m.country] = key
	}
	return keys
}

func (r *raw) questionSQL(q *question) string {
	return clickhouseSQL.selectAnswer(q, "bench_raw", " WHERE "+q.rowPredicate(r.places[q.account.id].keysByCountry()))
}

// queryExpected finds the right answer of a question.
func (r *raw) queryExpected(ctx context.Context, q *question) (expected, error) {
	at := r.places[q.account.id]
	rows, err := r.engine.queryRows(ctx, sql{text: clickhouseSQL.selectGroups(q, "bench_raw", " WHERE "+q.rowPredicate(at.keysByCountry()))})
	if err != nil {
		return expected{}, err
	}
	groups, _, err := q.readGroups(rows, false)
	return q.expectAnswer(groups, at), err
}

func (r *raw) contestantName() string { return "raw" }

func (r *raw) askQuestion(ctx context.Context, q *question) (reply, error) {
	took, body, err := r.engine.timeStatement(ctx, sql{text: r.questionSQL(q)})
	return reply{took, body, func() ([]string, error) { return q.readPeer(splitRows(body), false) }}, err
}

func (r *raw) close() error { return nil }

// heldDays is the first and the last day of a shape's figures and reports.
func (s Shape) heldDays() (first, last adlens.Day) { return s.firstDay(), s.End }
