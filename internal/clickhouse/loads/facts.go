package loads

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// FactStore is the facts and what is derived of them, as a load writes and reads
// them.
type FactStore struct{ cluster *cluster.Cluster }

// InsertFacts writes a block of facts that are not visible yet.
func (f FactStore) InsertFacts(ctx context.Context, account string, b *loader.Batch) error {
	portions := byMonths(b)
	if len(portions) == 1 {
		return f.insertFacts(ctx, account, b)
	}
	inserts := make([]func() error, len(portions))
	for i, rows := range portions {
		inserts[i] = func() error { return f.insertFacts(ctx, account, b.Select(rows)) }
	}
	return flight.Together(inserts...)
}

// insertsAtOnce bounds the inserts side by side. The engine writes a part for
// each month and has every file of it synced before the next: with many months
// of few rows it does nothing else, and the disk syncs many files in the time
// of one (decision 39).
const insertsAtOnce = 8

// byMonths shares the rows of a batch out to inserts. No month is in two of
// them, so there are no more parts than by one insert.
func byMonths(b *loader.Batch) [][]int {
	portionOf := map[adlens.Day]int{}
	var portions [][]int
	for row, day := range b.Day {
		month := day.FirstOfMonth()
		at, ok := portionOf[month]
		if !ok {
			at = len(portionOf) % insertsAtOnce
			portionOf[month] = at
		}
		if at == len(portions) {
			portions = append(portions, nil)
		}
		portions[at] = append(portions[at], row)
	}
	return portions
}

func (f FactStore) insertFacts(ctx context.Context, account string, b *loader.Batch) error {
	columns := "account_id, generation, day, product_key, campaign_key, ad_group_key, marketplace_key, ad_product, " + strings.Join(b.Names, ", ")
	return f.cluster.Insert(ctx, account, "INSERT INTO facts ("+columns+")", func(batch conn.Batch) error {
		n := b.Rows()
		keys := []any{repeat(account, n), b.Generation, times(b.Day), b.Product, b.Campaign, b.AdGroup, b.Marketplace, numbers(b.AdProduct)}
		for i, column := range keys {
			if err := batch.Column(i).Append(column); err != nil {
				return err
			}
		}
		for i, values := range b.Values {
			if err := conn.DecodeColumn(batch, len(keys)+i, native(values), n); err != nil {
				return err
			}
		}
		return nil
	})
}

// native are values as the server stores counts and amounts alike, in eight
// bytes each. The driver's own way to take an amount makes some six objects of
// it.
func native(values []uint64) []byte {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	return raw
}

func repeat[T any](value T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = value
	}
	return all
}

func numbers(adProducts []adlens.AdProduct) []uint8 {
	all := make([]uint8, len(adProducts))
	for i, p := range adProducts {
		all[i] = uint8(p)
	}
	return all
}

func times(days []adlens.Day) []time.Time {
	all := make([]time.Time, len(days))
	for i, d := range days {
		all[i] = d.Time()
	}
	return all
}

// Facts reads the stored rows of some days of a unit in the order of their
// keys. Amounts come as the integers that Decimal(18, 6) is stored as.
func (f FactStore) Facts(ctx context.Context, account string, unit manifest.Unit, generation uint32, days manifest.Days, visit func(*loader.StoredFact) error) error {
	names, units := loader.FactColumns()
	terms := make([]string, len(names))
	for i, name := range names {
		terms[i] = name
		if units[i] != catalogue.Count {
			terms[i] = "reinterpretAsUInt64(" + name + ")"
		}
	}
	sql := `SELECT day, product_key, campaign_key, ad_group_key, [` + strings.Join(terms, ", ") + `]
FROM facts
WHERE account_id = {account:String} AND generation = {generation:UInt32}
  AND toYYYYMM(day) = toYYYYMM({month:Date})
  AND bitTest({days:UInt32}, toDayOfMonth(day) - 1)
ORDER BY day, product_key, campaign_key, ad_group_key`
	params := conn.Params{"account": query.Text(account), "generation": conn.Number(generation), "month": unit.Start.String(), "days": conn.Number(uint32(days))}
	// A month may have millions of rows, and visit writes while it is read: no deadline of
	// a request fits.
	return f.cluster.Export(ctx, sql, params, func(scan conn.Scan) error {
		var day time.Time
		var f loader.StoredFact
		if err := scan(&day, &f.Product, &f.Campaign, &f.AdGroup, &f.Values); err != nil {
			return err
		}
		f.Day = adlens.DayOf(day)
		return visit(&f)
	})
}

func copyParams(account string, copies []loader.Copy) conn.Params {
	from, to, days, months := make([]uint32, len(copies)), make([]uint32, len(copies)), make([]uint32, len(copies)), make([]adlens.Day, len(copies))
	for i, c := range copies {
		from[i], to[i], days[i], months[i] = c.From, c.To, uint32(c.Days), c.Month
	}
	return conn.Params{"account": query.Text(account), "from": query.Numbers(from), "to": query.Numbers(to), "days": query.Numbers(days),
		"calendar": query.CalendarMonths(months)}
}

// copiedDays keeps the days that a copy takes over.
const copiedDays = `account_id = {account:String}
  AND generation IN {from:Array(UInt32)}
  AND toYYYYMM(day) IN {calendar:Array(UInt32)}
  AND bitTest(transform(generation, {from:Array(UInt32)}, {days:Array(UInt32)}, toUInt32(0)), toDayOfMonth(day) - 1)`

// CopyDays copies days of live generations to new ones. The rows are chosen
// in a query of their own: beside the new generation's alias, the filter would
// see that instead of the column.
func (f FactStore) CopyDays(ctx context.Context, account string, copies []loader.Copy) error {
	return f.cluster.Exec(ctx, `INSERT INTO facts
SELECT * REPLACE (transform(generation, {from:Array(UInt32)}, {to:Array(UInt32)}, toUInt32(0)) AS generation)
FROM (SELECT * FROM facts WHERE `+copiedDays+`)`, copyParams(account, copies))
}

// sumTerms are the measures summed in types that no sum overflows, and behind them
// the amounts in the marketplace's own currency.
var sumTerms = strings.Join(append([]string{query.EachMeasure(", ", func(m catalogue.Measure) string { return wideSum(m) + " AS " + m.Name })},
	query.EachLocal(func(column, wide string) string { return "sum(" + wide + ") AS " + column })...), ", ")

func wideSum(m catalogue.Measure) string { return "sum(" + query.WideTerm(m, m.Name) + ")" }

// Derive writes the rollups of new months from their facts, and those of years from
// months.
func (f FactStore) Derive(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	return flight.Together(
		func() error { return f.deriveDays(ctx, account, months) },
		func() error { return f.DeriveTotals(ctx, account, months, years) })
}

// DeriveTotals writes the rollups of whole months and of years. That of years by ad group
// is made of that of months by ad group, so it does not wait for those by product; months
// without ad groups are live ones, which are there already.
func (f FactStore) DeriveTotals(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	var steps []func() error
	ofYears := tables.Rollups(manifest.Year)
	for i, ofMonths := range tables.Rollups(manifest.Month) {
		steps = append(steps, func() error {
			if err := f.deriveMonths(ctx, account, ofMonths, months); err != nil {
				return err
			}
			return f.deriveYears(ctx, account, ofYears[i], years)
		})
	}
	return flight.Together(steps...)
}

func (f FactStore) deriveDays(ctx context.Context, account string, months []manifest.Entry) error {
	if len(months) == 0 {
		return nil
	}
	return f.cluster.Exec(ctx, `INSERT INTO day_totals
SELECT {account:String}, generation, day, any(marketplace_key), any(ad_product), `+sumTerms+`
FROM facts
WHERE `+ofMonths+`
GROUP BY generation, day`, monthParams(account, months))
}

// deriveMonths writes one rollup of months. It groups by numbers alone: with the account
// among the keys the engine would turn each row's into one text.
func (f FactStore) deriveMonths(ctx context.Context, account string, rollup tables.Description, months []manifest.Entry) error {
	if len(months) == 0 {
		return nil
	}
	return f.cluster.Exec(ctx, `INSERT INTO `+rollup.Name+`
SELECT {account:String}, generation, toStartOfMonth(any(day)), `+rollup.Keys+`, any(marketplace_key), any(ad_product), `+sumTerms+`
FROM facts
WHERE `+ofMonths+`
GROUP BY generation, `+rollup.Keys, monthParams(account, months))
}

// ofMonths keeps the rows of months, in a table that has days. Which months these are
// says in which partitions they stand. The index does not say what generations a
// granule has in which the next account begins, and there is one of them in most parts
// of all other months.
const ofMonths = "account_id = {account:String} AND generation IN {generations:Array(UInt32)} AND toYYYYMM(day) IN {calendar:Array(UInt32)}"

func monthParams(account string, months []manifest.Entry) conn.Params {
	generations, starts := make([]uint32, len(months)), make([]adlens.Day, len(months))
	for i, m := range months {
		generations[i], starts[i] = m.Generation, m.Start
	}
	return conn.Params{"account": query.Text(account), "generations": query.Numbers(generations), "calendar": query.CalendarMonths(starts)}
}

// monthsOfYears keeps the months of years, in whose partitions they are.
const monthsOfYears = `account_id = {account:String} AND generation IN {months:Array(UInt32)} AND toYear(month) IN {calendar:Array(UInt32)}`

// YearParams are the parameters of statements about the months of years.
func YearParams(account string, years []loader.YearParts) conn.Params {
	var months, undivided, ofYear, generations []uint32
	starts := make([]adlens.Day, len(years))
	for i, y := range years {
		starts[i], generations = y.Start, append(generations, y.Generation)
		for _, m := range y.Months {
			months, ofYear = append(months, m), append(ofYear, y.Generation)
		}
		undivided = append(undivided, y.Undivided...)
	}
	return conn.Params{"account": query.Text(account), "months": query.Numbers(months), "undivided": query.Numbers(undivided), "years": query.Numbers(ofYear),
		"generations": query.Numbers(generations), "calendar": query.CalendarYears(starts)}
}

// deriveYears writes one rollup of years from that of their months.
func (f FactStore) deriveYears(ctx context.Context, account string, rollup tables.Description, years []loader.YearParts) error {
	if len(years) == 0 {
		return nil
	}
	return f.cluster.Exec(ctx, `INSERT INTO `+rollup.Name+`
SELECT {account:String}, transform(generation, {months:Array(UInt32)}, {years:Array(UInt32)}, toUInt32(0)) AS year_generation,
    toStartOfYear(any(month)), `+rollup.Keys+`, any(marketplace_key), any(ad_product), `+sumTerms+`
FROM (`+SelectMonths(rollup, years)+`)
GROUP BY year_generation, `+rollup.Keys, YearParams(account, years))
}

// CountFacts has the engine read the rows: parts, and the projection by which rows are
// counted elsewhere, each have a file that says how many there are.
func (f FactStore) CountFacts(ctx context.Context, account string, generations []uint32) ([]tables.Count, error) {
	return conn.Collect(ctx, f.cluster, `
SELECT generation, count()
FROM facts
WHERE account_id = {account:String} AND generation IN {generations:Array(UInt32)}
GROUP BY generation
SETTINGS optimize_use_projections = 0, optimize_use_implicit_projections = 0`,
		conn.Params{"account": query.Text(account), "generations": query.Numbers(generations)}, func(scan conn.Scan) (tables.Count, error) {
			c := tables.Count{Account: account, Table: "facts"}
			err := scan(&c.Generation, &c.Rows)
			return c, err
		})
}

// SelectMonths selects the months that a rollup of years is derived of. Of those that
// have no rollup by ad group all is of no campaign.
func SelectMonths(rollup tables.Description, years []loader.YearParts) string {
	months := "SELECT * FROM " + rollup.MonthsOf() + " WHERE " + monthsOfYears
	if !rollup.ByAdGroup() || !slices.ContainsFunc(years, func(y loader.YearParts) bool { return len(y.Undivided) > 0 }) {
		return months
	}
	return months + ` AND generation NOT IN {undivided:Array(UInt32)}
    UNION ALL
    SELECT account_id, generation, month, toUInt32(0) AS campaign_key, toUInt32(0) AS ad_group_key, * EXCEPT (account_id, generation, month)
    FROM month_products
    WHERE ` + monthsOfYears + ` AND generation IN {undivided:Array(UInt32)}`
}

// readBack are the sums as whole numbers: counts, and millionths of dollars; and then
// the same with money in units of 10^-20 of its own currency.
var readBack = "count(), " + query.EachMeasure(", ", func(m catalogue.Measure) string { return query.WholeTerm(m, wideSum(m)) }) +
	", " + query.EachMeasure(", ", func(m catalogue.Measure) string {
	if !m.IsAmount() {
		return wideSum(m)
	}
	return query.LocalSum(m, "")
})

// summedColumns are what readBack sums.
var summedColumns = query.EachMeasure(", ", func(m catalogue.Measure) string { return m.Name }) + ", " +
	strings.Join(query.EachLocal(func(column, _ string) string { return column }), ", ")

// levelRows selects the rows that one level of a readback sums.
type levelRows struct{ table, filter string }

// levelsOf are the levels of new months and years, and the days that copies take over.
// Months that years are made of are read by generation, whether they are new or not.
func levelsOf(months []manifest.Entry, copies []loader.Copy, years []loader.YearParts) (levels []levelRows) {
	if len(months) > 0 {
		levels = append(levels, levelRows{"facts", ofMonths}, levelRows{"day_totals", ofMonths})
		for _, rollup := range tables.Rollups(manifest.Month) {
			levels = append(levels, levelRows{rollup.Name, monthsOfParts})
		}
	}
	if len(years) > 0 {
		for _, rollup := range tables.Rollups(manifest.Year) {
			levels = append(levels, levelRows{rollup.Name, "account_id = {account:String} AND generation IN {years:Array(UInt32)}"})
		}
	}
	if len(copies) > 0 {
		levels = append(levels, levelRows{"facts", copiedDays})
	}
	return levels
}

// monthsOfParts keeps new months and all months of years, in whose partitions they are.
const monthsOfParts = `account_id = {account:String} AND generation IN {parts:Array(UInt32)} AND toYear(month) IN {part_years:Array(UInt32)}`

func levelParams(account string, months []manifest.Entry, copies []loader.Copy, years []loader.YearParts) conn.Params {
	var parts, generations []uint32
	var starts []adlens.Day
	for _, m := range months {
		parts, starts = append(parts, m.Generation), append(starts, m.Start)
	}
	for _, y := range years {
		parts, starts, generations = append(parts, y.Months...), append(starts, y.Start), append(generations, y.Generation)
	}
	params := copyParams(account, copies)
	maps.Copy(params, monthParams(account, months)) // its calendar has the months of the copies
	params["parts"], params["part_years"], params["years"] = query.Numbers(parts), query.CalendarYears(starts), query.Numbers(generations)
	return params
}

// Sums reads back what was written in one statement: nine sums cost the server more to
// analyse than a load's rows to add up, so all levels are summed as one.
func (f FactStore) Sums(ctx context.Context, account string, months []manifest.Entry, copies []loader.Copy, years []loader.YearParts) (map[loader.Level]loader.Sums, error) {
	levels := levelsOf(months, copies, years)
	if len(levels) == 0 {
		return nil, nil
	}
	rows := make([]string, len(levels))
	for i, l := range levels {
		rows[i] = fmt.Sprintf("SELECT toUInt8(%d) AS level, generation, %s FROM %s WHERE %s", i, summedColumns, l.table, l.filter)
	}
	all := map[loader.Level]loader.Sums{}
	_, err := conn.Collect(ctx, f.cluster, "SELECT level, generation, "+readBack+"\nFROM (\n"+strings.Join(rows, "\nUNION ALL\n")+"\n)\nGROUP BY level, generation",
		levelParams(account, months, copies, years), func(scan conn.Scan) (none struct{}, err error) {
			var level uint8
			var generation uint32
			var s loader.Sums
			if err := conn.ScanSums(scan, len(catalogue.Headline), []any{&level, &generation, &s.Rows}, nil, &s.Figures, &s.Source); err != nil {
				return none, err
			}
			all[loader.Level{Table: levels[level].table, Generation: generation}] = s
			return none, nil
		})
	return all, err
}
