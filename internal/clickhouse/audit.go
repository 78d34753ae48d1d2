package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adlens/internal/query"
	"adlens/loader"
)

// Difference says how a rollup's generation differs from what it was made of.
type Difference struct {
	Rows  int    // of the rollup that are missing, too many, or say something else
	First string // the first of them: a day, or a product's key
}

// DayDifferences adds up the facts of month generations anew, and compares each
// day with day_totals.
func (db *DB) DayDifferences(ctx context.Context, account string, months []uint32) (map[uint32]Difference, error) {
	return db.differences(ctx, "day", "day_totals",
		"SELECT generation, day AS key, marketplace_key, ad_product, "+auditTerms+" FROM facts WHERE "+auditedMonths,
		Params{"account": query.Text(account), "generations": query.Numbers(months)})
}

// MonthDifferences does the same for each product of a month, with
// month_products.
func (db *DB) MonthDifferences(ctx context.Context, account string, months []uint32) (map[uint32]Difference, error) {
	return db.differences(ctx, "product_key", "month_products",
		"SELECT generation, product_key AS key, marketplace_key, ad_product, "+auditTerms+" FROM facts WHERE "+auditedMonths,
		Params{"account": query.Text(account), "generations": query.Numbers(months)})
}

// YearDifferences adds up the months of year generations anew, and compares
// each product with year_products.
func (db *DB) YearDifferences(ctx context.Context, account string, years []loader.YearParts) (map[uint32]Difference, error) {
	params := yearParams(account, years)
	generations := make([]uint32, len(years))
	for i, y := range years {
		generations[i] = y.Generation
	}
	params["generations"] = query.Numbers(generations)
	return db.differences(ctx, "product_key", "year_products", `
        SELECT transform(generation, {months:Array(UInt32)}, {years:Array(UInt32)}, toUInt32(0)) AS generation, product_key AS key,
            marketplace_key, ad_product, `+auditTerms+`
        FROM (SELECT * FROM month_products WHERE account_id = {account:String} AND generation IN {months:Array(UInt32)})`, params)
}

const auditedMonths = "account_id = {account:String} AND generation IN {generations:Array(UInt32)}"

// auditTerms are the measures in types that no sum overflows.
var auditTerms = query.EachMeasure(", ", func(m query.Measure) string { return m.Wide(m.Name) + " AS wide_" + m.Name })

// auditDiffers is true for a group that is not stored as its source has it.
var auditDiffers = query.EachMeasure(" OR ", func(m query.Measure) string {
	return fmt.Sprintf("sumIf(wide_%[1]s, stored) != sumIf(wide_%[1]s, NOT stored)", m.Name)
})

// differences groups what a rollup says with what its source says, in 128 bits,
// and counts the groups in which the two are not the same.
var differences = `
SELECT generation, count(), toString(min(key))
FROM (
    SELECT generation, key
    FROM (
        SELECT false AS stored, * FROM (%s)
        UNION ALL
        SELECT true AS stored, generation, %s AS key, marketplace_key, ad_product, ` + auditTerms + ` FROM %s WHERE ` + auditedMonths + `
    )
    GROUP BY generation, key, marketplace_key, ad_product
    HAVING ` + auditDiffers + `
)
GROUP BY generation
SETTINGS max_threads = 1`

func (db *DB) differences(ctx context.Context, key, table, source string, params Params) (map[uint32]Difference, error) {
	all := map[uint32]Difference{}
	err := db.readOnce(ctx, fmt.Sprintf(differences, source, key, table), params, each(func(scan func(...any) error) error {
		var generation uint32
		var rows uint64
		var first string
		err := scan(&generation, &rows, &first)
		all[generation] = Difference{int(rows), first}
		return err
	}))
	return all, err
}

// GenerationRows counts the rows of an account in one of its tables by their
// generation.
func (db *DB) GenerationRows(ctx context.Context, account, table string) (map[uint32]uint64, error) {
	counts, err := db.Tables().CountRows(ctx, account, table)
	rows := make(map[uint32]uint64, len(counts))
	for _, c := range counts {
		rows[c.Generation] = c.Rows
	}
	return rows, err
}

// TableSize is what a table takes on the disk.
type TableSize struct {
	Rows, Bytes uint64 // of the parts that are read
	Replaced    uint64 // bytes of parts that were merged or deleted and are not removed yet
}

// TableSizes reads how large our tables are.
func (db *DB) TableSizes(ctx context.Context) (map[string]TableSize, error) {
	type sizes = map[string]TableSize
	shards, err := gather(ctx, db, func(s *server) (sizes, error) {
		one := sizes{}
		err := s.asOwner(ctx, `
SELECT table, sumIf(rows, active), sumIf(bytes_on_disk, active), sumIf(bytes_on_disk, NOT active)
FROM system.parts
WHERE database = currentDatabase()
GROUP BY table`, nil, each(func(scan func(...any) error) error {
			var name string
			var of TableSize
			err := scan(&name, &of.Rows, &of.Bytes, &of.Replaced)
			one[name] = of
			return err
		}))
		return one, err
	})
	all := sizes{}
	for _, one := range shards {
		for name, of := range one {
			all[name] = TableSize{all[name].Rows + of.Rows, all[name].Bytes + of.Bytes, all[name].Replaced + of.Replaced}
		}
	}
	return all, err
}

// Version is the server's.
func (db *DB) Version(ctx context.Context) (version string, err error) {
	err = db.home.asOwner(ctx, "SELECT version()", nil, each(func(scan func(...any) error) error { return scan(&version) }))
	return version, err
}

// Now is the time by the server's clock.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = db.home.readOnce(ctx, "SELECT now64(3)", nil, each(func(scan func(...any) error) error { return scan(&now) }))
	return now, err
}

// NewestCommit is when something of an account became visible last, by the
// clock of the machine that loaded it; zero where nothing did.
func (db *DB) NewestCommit(ctx context.Context, account string) (at time.Time, err error) {
	var committed *time.Time
	err = db.readOnce(ctx, "SELECT maxOrNull(committed_at) FROM commits WHERE account_id = {account:String}",
		Params{"account": query.Text(account)}, each(func(scan func(...any) error) error { return scan(&committed) }))
	if committed != nil {
		at = *committed
	}
	return at, err
}

// rights are what a user of an existing server needs in its database.
var rights = []string{"SELECT", "INSERT", "ALTER TABLE", "CREATE TABLE", "DROP TABLE"}

// MissingRights returns what the user of a server may not do of what adlens
// does. A server that is too old to be asked says so in the error.
func (db *DB) MissingRights(ctx context.Context, database string) (missing []string, err error) {
	for _, right := range rights {
		granted, err := db.granted(ctx, right+" ON "+identifier(database)+".*")
		if err != nil {
			return nil, err
		}
		if !granted {
			missing = append(missing, right)
		}
	}
	return missing, nil
}

// granted tells whether all servers grant something.
func (db *DB) granted(ctx context.Context, grant string) (bool, error) {
	all, err := gather(ctx, db, func(s *server) (answer uint8, err error) {
		err = s.asOwner(ctx, "CHECK GRANT "+grant, nil, each(func(scan func(...any) error) error { return scan(&answer) }))
		return answer, err
	})
	return !slices.Contains(all, 0), err
}
