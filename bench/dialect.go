package main

import (
	"fmt"
	"slices"
	"strings"

	"adlens"
)

// dialect is how a peer says what a question needs. Table and column names are
// the same everywhere: account, day, marketplace, ad_product, product, campaign,
// ad_group, impressions, clicks, purchases, spend, sales.
type dialect struct {
	month     string // first day of the month of day, as a date
	bits      string // a bit for each marketplace of a group
	spend     string // the order of shown amounts, for the sums sp and sa
	sales     string
	acos      string
	totalRows string // rows of all pages
	micros    bool   // amounts are whole millionths of a dollar
}

var clickhouseSQL = dialect{
	month: "toStartOfMonth(day)", bits: "groupBitOr(bitShiftLeft(1::UInt64, marketplace))",
	spend: "round(sp, 2)", sales: "round(sa, 2)",
	acos:      "if(sa = 0, NULL, intDiv(toInt128(sp * 1000000) * 20000 + toInt128(sa * 1000000), 2 * toInt128(sa * 1000000)))",
	totalRows: "count() OVER ()",
}

var duckdbSQL = dialect{
	month: "date_trunc('month', day)::DATE", bits: "bit_or(1::UBIGINT << marketplace::UBIGINT)",
	spend: "round(sp, 2)", sales: "round(sa, 2)",
	acos:      "CASE WHEN sa = 0 THEN NULL ELSE ((sp * 1000000)::HUGEINT * 20000 + (sa * 1000000)::HUGEINT) // (2 * (sa * 1000000)::HUGEINT) END",
	totalRows: "count(*) OVER ()",
}

var postgresSQL = dialect{
	// Without the cast the day becomes a moment in a time zone first, which takes a
	// fifth of the statement's time.
	month: "date_trunc('month', day::timestamp)::date", bits: "bit_or(1::bigint << marketplace)",
	spend: "round(sp, -4)", sales: "round(sa, -4)",
	acos:      "CASE WHEN sa = 0 THEN NULL ELSE div(sp * 20000 + sa, 2 * sa) END",
	totalRows: "count(*) OVER ()",
	micros:    true,
}

const fiveSums = "sum(impressions) AS i, sum(clicks) AS c, sum(purchases) AS p, sum(spend) AS sp, sum(sales) AS sa"

// rowPredicate is the predicate of a question on a table that has one row for each
// fact. keys are the account's marketplaces by country.
func (q *question) rowPredicate(keys map[string]int) string {
	return q.slicePredicate(keys) + fmt.Sprintf(" AND day BETWEEN '%s' AND '%s'", q.from, q.to)
}

// slicePredicate is the part of the predicate without the days.
func (q *question) slicePredicate(keys map[string]int) string {
	where := fmt.Sprintf("account = '%s'", q.account.id)
	if q.markets != nil {
		var numbers []string
		for _, code := range q.markets {
			numbers = append(numbers, fmt.Sprint(keys[code]))
		}
		where += " AND marketplace IN (" + strings.Join(numbers, ", ") + ")"
	}
	if q.adProducts != nil {
		var numbers []string
		for _, p := range q.adProducts {
			numbers = append(numbers, fmt.Sprint(uint8(p)))
		}
		where += " AND ad_product IN (" + strings.Join(numbers, ", ") + ")"
	}
	if q.campaigns != nil {
		where += " AND campaign IN (" + strings.Join(q.campaigns, ", ") + ")"
	}
	return where
}

// selectAnswer is the question as a statement over a table, or over a sub-select in
// brackets that ends with its own predicate.
func (d dialect) selectAnswer(q *question, table, where string) string {
	switch q.endpoint {
	case summaries:
		return fmt.Sprintf("SELECT marketplace, ad_product, %s FROM %s%s GROUP BY marketplace, ad_product ORDER BY marketplace, ad_product", fiveSums, table, where)
	case timelines:
		bucket := "day"
		if q.granularity == "month" {
			bucket = d.month
		}
		return fmt.Sprintf("SELECT %s AS bucket, %s FROM %s%s GROUP BY bucket ORDER BY bucket", bucket, fiveSums, table, where)
	}
	return d.selectPage(q, "AS sums", d.selectGroups(q, table, where))
}

// selectPage puts groups in order and cuts a page of them.
func (d dialect) selectPage(q *question, join, groups string) string {
	second := "bits"
	if q.endpoint == breakdown {
		second = "bucket"
	}
	return fmt.Sprintf("SELECT %s, %s, i, c, p, sp, sa, %s AS total FROM (%s) %s %s", q.by, second, d.totalRows, groups, join, d.pageClause(q))
}

// selectGroups is the question without its order and page: what the right answer is
// made of.
func (d dialect) selectGroups(q *question, table, where string) string {
	switch q.endpoint {
	case summaries, timelines:
		return d.selectAnswer(q, table, where)
	case breakdown:
		bucket, by := "''", q.by
		if q.byDate {
			bucket, by = "day", q.by+", bucket"
		}
		return fmt.Sprintf("SELECT %s, %s AS bucket, %s FROM %s%s GROUP BY %s", q.by, bucket, fiveSums, table, where, by)
	}
	return fmt.Sprintf("SELECT product, %s AS bits, %s FROM %s%s GROUP BY product", d.bits, fiveSums, table, where)
}

// pageClause orders rows by the value as shown, null last, ties by date and id.
func (d dialect) pageClause(q *question) string {
	ties := "product = '', product"
	if q.by == byCampaign {
		ties = "campaign" // none is without one
	}
	if q.byDate {
		ties = "bucket, " + ties
	}
	key := map[string]string{"spend": d.spend, "sales": d.sales, "acos": d.acos, "purchases": "p", "product_id": "product", "date": "bucket"}[q.sort]
	if q.sort == "product_id" {
		key = "product = '', " + key
	}
	return fmt.Sprintf("ORDER BY %s %s NULLS LAST, %s LIMIT %d OFFSET %d", key, strings.ToUpper(q.order), ties, q.size, (q.page-1)*q.size)
}

// part is a piece of a period that one of a peer's tables answers.
type part struct {
	table    string
	column   string // of its time, "" for the lifetime
	from, to adlens.Day
}

// rollupParts splits a question's period into what a careful person's rollups
// answer whole: the lifetime, years, months, and single days. first and last
// are the days that are held: a month is whole when all its held days are.
func (q *question) rollupParts(first, last adlens.Day) []part {
	from, to := max(q.from, first), min(q.to, last)
	switch q.endpoint {
	case summaries, timelines:
		return []part{{"day_totals", "day", from, to}}
	case breakdown:
		return []part{{"facts", "day", from, to}}
	}
	if from == first && to == last {
		return []part{{"life_products", "", first, last}}
	}
	if from > to {
		return []part{{"facts", "day", q.from, q.to}} // nothing that is held
	}
	var parts []part
	whole := func(start, end adlens.Day) bool { return from <= max(start, first) && min(end, last) <= to }
	for day := from; day <= to; {
		switch {
		case day == max(day.FirstOfYear(), first) && whole(day.FirstOfYear(), day.LastOfYear()):
			parts = append(parts, part{"year_products", "year", day.FirstOfYear(), day.LastOfYear()})
			day = day.LastOfYear() + 1
		case day == max(day.FirstOfMonth(), first) && whole(day.FirstOfMonth(), day.LastOfMonth()):
			parts = append(parts, part{"month_products", "month", day.FirstOfMonth(), day.LastOfMonth()})
			day = day.LastOfMonth() + 1
		default:
			end := min(to, day.LastOfMonth())
			parts = append(parts, part{"facts", "day", day, end})
			day = end + 1
		}
	}
	return joinParts(parts)
}

// campaignRollup is the rollup that answers a question about campaigns, with its
// predicate: days of campaigns, or the lifetime of their products.
func (q *question) campaignRollup(first, last adlens.Day, keys map[string]int) (table, where string) {
	switch report := q.endpoint == breakdown; {
	case report && !q.byDate && q.from <= first && last <= q.to:
		return "life_campaigns", q.slicePredicate(keys)
	case report && q.by == byProduct:
		return "facts", q.rowPredicate(keys)
	}
	return "day_campaigns", q.rowPredicate(keys)
}

// joinParts makes neighbours of one table one part.
func joinParts(parts []part) []part {
	var all []part
	for _, p := range parts {
		i := slices.IndexFunc(all, func(a part) bool { return a.table == p.table && a.to+1 == p.from })
		if i >= 0 {
			all[i].to = p.to
			continue
		}
		all = append(all, p)
	}
	return all
}
