// Package audit looks at what is stored for people: whether rollups say what their
// facts say, how large tables and shards are, how far the schema is, and how old
// the data is.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/loads"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// Difference says how a rollup's generation differs from what it was made of.
type Difference struct {
	Rows  int    // of the rollup that are missing, too many, or say something else
	First string // the first of them: a day, or a product's key
}

// Audit looks at what is stored, for people.
type Audit struct{ cluster *cluster.Cluster }

// New returns the audit of a database.
func New(c *cluster.Cluster) Audit { return Audit{c} }

// DayDifferences adds up the facts of month generations and compares each
// day with day_totals.
func (a Audit) DayDifferences(ctx context.Context, account string, months []manifest.Entry) (map[uint32]Difference, error) {
	return a.findDifferences(ctx, "day", "day_totals",
		"SELECT generation, day AS key, marketplace_key, ad_product, "+auditTerms+" FROM facts WHERE "+ofGenerations, monthParams(account, months))
}

// monthParams name months, and those of them whose rollups have no local amounts.
func monthParams(account string, months []manifest.Entry) conn.Params {
	var all, withoutLocal []uint32
	for _, e := range months {
		all = append(all, e.Generation)
		if !e.ByAdGroup() {
			withoutLocal = append(withoutLocal, e.Generation)
		}
	}
	return conn.Params{"account": query.Text(account), "generations": query.Numbers(all), "without_local": query.Numbers(withoutLocal)}
}

// MonthDifferences does the same for each row of a rollup of months.
func (a Audit) MonthDifferences(ctx context.Context, account string, rollup tables.Description, months []manifest.Entry) (map[uint32]Difference, error) {
	return a.findDifferences(ctx, keyOf(rollup), rollup.Name,
		"SELECT generation, "+keyOf(rollup)+" AS key, marketplace_key, ad_product, "+auditTerms+" FROM facts WHERE "+ofGenerations, monthParams(account, months))
}

// YearDifferences adds up the months of year generations and compares each row with
// a rollup of years.
func (a Audit) YearDifferences(ctx context.Context, account string, rollup tables.Description, years []loader.YearParts) (map[uint32]Difference, error) {
	params := loads.YearParams(account, years)
	params["without_local"] = query.Numbers[uint32](nil) // they have what their months have
	return a.findDifferences(ctx, keyOf(rollup), rollup.Name, `
        SELECT transform(generation, {months:Array(UInt32)}, {years:Array(UInt32)}, toUInt32(0)) AS generation, `+keyOf(rollup)+` AS key,
            marketplace_key, ad_product, `+auditTerms+`
        FROM (`+loads.SelectMonths(rollup, years)+`)`, params)
}

// keyOf is the term for what tells the rows of a unit apart.
func keyOf(rollup tables.Description) string { return "(" + rollup.Keys + ")" }

const ofGenerations = "account_id = {account:String} AND generation IN {generations:Array(UInt32)}"

// auditTerms are what rollups sum, in types that no sum overflows.
var auditTerms = strings.Join(append([]string{query.EachMeasure(", ", func(m catalogue.Measure) string { return query.WideTerm(m, m.Name) + " AS wide_" + m.Name })},
	query.EachLocal(func(column, wide string) string {
		return fmt.Sprintf("if(generation IN {without_local:Array(UInt32)}, %[2]s - %[2]s, %[2]s) AS wide_%[1]s", column, wide)
	})...), ", ")

// auditDiffers is true for a group that is not stored as its source has it.
var auditDiffers = func() string {
	differs := func(column, _ string) string {
		return fmt.Sprintf("sumIf(wide_%[1]s, stored) != sumIf(wide_%[1]s, NOT stored)", column)
	}
	return query.EachMeasure(" OR ", func(m catalogue.Measure) string { return differs(m.Name, "") }) + " OR " + strings.Join(query.EachLocal(differs), " OR ")
}()

// selectDifferences groups what a rollup says with what its source says, in 128 bits,
// and counts the groups in which the two are not the same.
var selectDifferences = `
SELECT generation, count(), toString(min(key))
FROM (
    SELECT generation, key
    FROM (
        SELECT false AS stored, * FROM (%s)
        UNION ALL
        SELECT true AS stored, generation, %s AS key, marketplace_key, ad_product, ` + auditTerms + ` FROM %s WHERE ` + ofGenerations + `
    )
    GROUP BY generation, key, marketplace_key, ad_product
    HAVING ` + auditDiffers + `
)
GROUP BY generation
SETTINGS max_threads = 1`

func (a Audit) findDifferences(ctx context.Context, key, table, source string, params conn.Params) (map[uint32]Difference, error) {
	all := map[uint32]Difference{}
	err := a.cluster.ReadOnce(ctx, fmt.Sprintf(selectDifferences, source, key, table), params, conn.EachRow(func(scan conn.Scan) error {
		var generation uint32
		var rows uint64
		var first string
		err := scan(&generation, &rows, &first)
		all[generation] = Difference{int(rows), first}
		return err
	}))
	return all, err
}

// GenerationRows counts the rows of some accounts in one of their tables by account and
// generation, in one statement on each shard.
func (a Audit) GenerationRows(ctx context.Context, accounts []string, table string) (map[string]map[uint32]uint64, error) {
	rows := make(map[string]map[uint32]uint64, len(accounts))
	for _, account := range accounts {
		rows[account] = map[uint32]uint64{}
	}
	err := a.eachHolder(ctx, accounts, func(s *cluster.Shard, held string) error {
		return s.Read(ctx, "SELECT account_id, generation, "+cluster.CountOf(table)+" FROM "+table+" WHERE "+ofAccounts+" GROUP BY account_id, generation SETTINGS optimize_aggregation_in_order = 1",
			conn.Params{"accounts": held}, conn.EachRow(func(scan conn.Scan) error {
				var account string
				var generation uint32
				var n uint64
				if err := scan(&account, &generation, &n); err != nil {
					return err
				}
				rows[account][generation] = n
				return nil
			}))
	})
	return rows, err
}

// ReadRows reads every column of the rows that some accounts have of some generations in one
// of their tables. The error is of kind adlens.Damaged where some cannot be read: the engine
// checks what it reads.
func (a Audit) ReadRows(ctx context.Context, accounts []string, table string, generations []uint32) error {
	return a.eachHolder(ctx, accounts, func(s *cluster.Shard, held string) error {
		var hash uint64
		return s.ReadOnce(ctx, "SELECT ifNull(sum(cityHash64(*)), 0) FROM "+table+" WHERE "+ofAccounts+" AND generation IN {generations:Array(UInt32)}",
			conn.Params{"accounts": held, "generations": query.Numbers(generations)}, conn.ScanInto(&hash))
	})
}

// ReadTable reads every column of all rows of a table, at each replica. The error is of kind
// adlens.Damaged where some cannot be read.
func (a Audit) ReadTable(ctx context.Context, table string) error {
	return a.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		var damaged error
		err := s.AtReplicas(func(at *conn.Server) error {
			var hash uint64
			err := at.ReadOnce(conn.Inspecting(ctx), "SELECT ifNull(sum(cityHash64(*)), 0) FROM "+table, nil, conn.ScanInto(&hash))
			if adlens.KindOf(err) == adlens.Damaged {
				damaged = fmt.Errorf("%s: %w", at.Describe(), err)
			}
			return err
		})
		return s.Name(cmp.Or(damaged, err))
	})
}

const ofAccounts = "account_id IN splitByChar(',', {accounts:String})"

// eachHolder does something at each shard that holds some of the accounts, with the ids of
// those. Another shard may have rows of them that a move has left.
func (a Audit) eachHolder(ctx context.Context, accounts []string, do func(s *cluster.Shard, held string) error) error {
	byShard := map[*cluster.Shard][]string{}
	for _, account := range accounts {
		s, err := a.cluster.Holder(ctx, query.Text(account))
		if err == nil {
			err = s.Admit(ctx, query.Text(account))
		}
		if err != nil {
			return err
		}
		byShard[s] = append(byShard[s], account)
	}
	for s, held := range byShard {
		if err := do(s, query.Text(strings.Join(held, ","))); err != nil {
			return s.Name(err)
		}
	}
	return nil
}

// Version is the server's.
func (a Audit) Version(ctx context.Context) (version string, err error) {
	err = a.cluster.Home().ReadAsOwner(ctx, "SELECT version()", nil, conn.ScanInto(&version))
	return version, err
}

// NewestCommit is when something of an account became visible last, by the clock of
// the database; zero where nothing did.
func (a Audit) NewestCommit(ctx context.Context, account string) (at time.Time, err error) {
	var committed *time.Time
	err = a.cluster.ReadOnce(ctx, "SELECT argMaxOrNull(committed_at, number) FROM commits WHERE account_id = {account:String}",
		conn.Params{"account": query.Text(account)}, conn.ScanInto(&committed))
	if committed != nil {
		at = *committed
	}
	return at, err
}
