package clickhouse

import (
	"context"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// Loss is something that an account had and has no more.
type Loss struct {
	Account string
	What    string // for whoever has to act on it
}

// whose makes a statement one about an account, or about all where it is "".
func whose(sql, account string) string {
	filter := "true"
	if account != "" {
		filter = "account_id = {account:String}"
	}
	return strings.ReplaceAll(sql, "{whose}", filter)
}

// liveUnits are the live units of those whom the statement is about.
const liveUnits = `
    SELECT account_id, kind, marketplace_key, ad_product, start, max(version) AS version,
        argMax(generation, manifest.version) AS generation, argMax(fact_rows, manifest.version) AS rows
    FROM manifest
    WHERE {whose}
    GROUP BY account_id, kind, marketplace_key, ad_product, start`

// digest names the live generations of all units of an account.
const digest = "groupBitXor(cityHash64(kind, marketplace_key, ad_product, start, generation))"

// selectLostRows holds the live units against the rows that are there. Of facts,
// each part knows how many rows of each generation it has; of other tables it
// reads two small columns, in the order in which they are stored. How many rows a rollup should have is
// nowhere said; a load writes those of a generation at once, so one that lost
// its rows has none.
const selectLostRows = `
WITH live AS (` + liveUnits + `
), found AS (
    SELECT account_id, generation, sumIf(n, part = 'main') AS main, sumIf(n, part = 'days') AS days,
        sumIf(n, part = 'months') AS months, sumIf(n, part = 'years') AS years
    FROM (
        SELECT account_id, generation, count() AS n, 'main' AS part FROM facts WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'main' FROM campaigns WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'main' FROM ad_groups WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'main' FROM ads WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'days' FROM day_totals WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'months' FROM month_products WHERE {whose} GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 'years' FROM year_products WHERE {whose} GROUP BY account_id, generation
    )
    GROUP BY account_id, generation
)
SELECT account_id, kind, marketplace_key, ad_product, start, generation, rows, main, days > 0 AND months > 0
FROM (
    SELECT *, sumIf(rows, kind = 1) OVER (PARTITION BY account_id, marketplace_key, ad_product, toYear(start)) AS year_rows
    FROM live LEFT JOIN found USING (account_id, generation)
)
WHERE rows > 0 AND main != rows OR kind = 1 AND rows > 0 AND (days = 0 OR months = 0) OR kind = 2 AND year_rows > 0 AND years = 0
ORDER BY account_id, kind, marketplace_key, ad_product, start
LIMIT 1000
SETTINGS optimize_aggregation_in_order = 1`

// selectBrokenSeals are the accounts whose manifest has less than it had.
const selectBrokenSeals = `
SELECT account_id
FROM (SELECT account_id, max(version) AS last, argMax(units, seals.version) AS units, argMax(digest, seals.version) AS sealed
    FROM seals WHERE {whose} GROUP BY account_id) AS seal
LEFT JOIN (SELECT account_id, max(version) AS last, count() AS units, ` + digest + ` AS held FROM (` + liveUnits + `) GROUP BY account_id) AS now USING (account_id)
WHERE now.last < seal.last OR now.units < seal.units OR now.last = seal.last AND held != sealed
ORDER BY account_id`

// seal notes what the manifest holds after a commit.
func (db *DB) seal(ctx context.Context, account string) error {
	return db.exec(ctx, whose(`INSERT INTO seals
SELECT account_id, max(version), count(), `+digest+`
FROM (`+liveUnits+`)
GROUP BY account_id`, account), Params{"account": query.Text(account)})
}

// Losses holds what is stored of an account, or of all where it is "", against
// what was loaded, and names what is missing. It costs little, and finds rows
// that went, not such that changed: that is what loader.Verify does.
func (db *DB) Losses(ctx context.Context, account string) ([]Loss, error) {
	if account != "" {
		s, err := db.holder(ctx, query.Text(account))
		if err != nil {
			return nil, err
		}
		return s.losses(ctx, account)
	}
	all, err := gather(ctx, db, func(s *server) ([]Loss, error) { return s.losses(ctx, "") })
	return slices.Concat(all...), err
}

func (s *server) losses(ctx context.Context, account string) ([]Loss, error) {
	p, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	return s.lossesAt(ctx, p, account)
}

// lossesAt looks twice where something seems to be missing: what the second
// look misses as well was committed before it began.
func (s *server) lossesAt(ctx context.Context, p *pool, account string) ([]Loss, error) {
	first, err := s.look(ctx, p, account)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := s.look(ctx, p, account)
	return slices.DeleteFunc(second, func(l Loss) bool { return !slices.Contains(first, l) }), err
}

func (s *server) look(ctx context.Context, p *pool, account string) (all []Loss, err error) {
	params := Params{"account": query.Text(account)}
	err = s.inspectAt(ctx, p, whose(selectBrokenSeals, account), params, each(func(scan func(...any) error) error {
		l := Loss{What: manifestLost}
		err := scan(&l.Account)
		all = append(all, l)
		return err
	}))
	if err != nil {
		return nil, err
	}
	err = s.inspectAt(ctx, p, whose(selectLostRows, account), params, each(func(scan func(...any) error) error {
		l, err := scanLoss(scan)
		all = append(all, l)
		return err
	}))
	return all, err
}

func scanLoss(scan func(...any) error) (Loss, error) {
	var (
		l               Loss
		u               manifest.Unit
		kind, adProduct uint8
		start           time.Time
		generation      uint32
		rows, found     uint64
		rollups         bool
	)
	if err := scan(&l.Account, &kind, &u.Slice.Marketplace, &adProduct, &start, &generation, &rows, &found, &rollups); err != nil {
		return l, err
	}
	u.Kind, u.Slice.AdProduct, u.Start = manifest.Kind(kind), adlens.AdProduct(adProduct), adlens.DayOf(start)
	l.What = rollupsLost(u, generation)
	if rows > 0 && found != rows {
		l.What = rowsLost(u, generation, found, rows)
	}
	return l, nil
}
