package loader_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// chain are the numbers of the live commits as plain SQL finds them: the greatest
// one, the one on which it builds, and so on.
const chain = `(SELECT arrayJoin(arrayFold(
  (found, c) -> if(c.1 = found.1, (c.2, arrayPushBack(found.2, c.1)), found),
  arrayReverseSort(groupUniqArray((number, base))),
  (max(number), CAST([] AS Array(UInt32)))).2)
 FROM commits WHERE account_id = {account:String})`

// liveGenerations finds those that are live: of each unit the one of the newest
// live commit that wrote it.
const liveGenerations = `SELECT arrayJoin(CAST([0], 'Array(UInt32)')) UNION ALL
SELECT argMax(generation, number) FROM commit_units WHERE account_id = {account:String} AND number IN ` + chain + ` GROUP BY kind, marketplace_key, ad_product, start`

// live stands for the live generations in statements of query, which asks for
// them once, and for 0, which none has.
const live = "(/*live generations*/)"

const productIDs = `(SELECT product_key, arrayStringConcat(groupUniqArray(product_id), ' and ') AS id FROM products WHERE account_id = {account:String} AND generation IN ` + live + ` GROUP BY product_key)`

// five are the sums that every level holds: impressions, clicks, purchases,
// and dollars of spend and sales.
type five [5]*big.Rat

func (f five) String() string {
	texts := make([]string, len(f))
	for i, n := range f {
		texts[i] = n.FloatString(6)
	}
	return strings.Join(texts, " ")
}

func (f five) isZero() bool {
	return !slices.ContainsFunc(f[:], func(n *big.Rat) bool { return n.Sign() != 0 })
}

// number reads a value as it is printed; null is 0.
func number(t testing.TB, text string) *big.Rat {
	t.Helper()
	if text == "<nil>" {
		return new(big.Rat)
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return n
}

const sumFive = `sum(toUInt128(impressions)), sum(toUInt128(clicks)), sum(toUInt128(purchases)), sum(toDecimal128(spend, 6)), sum(toDecimal128(sales, 6))`

// storedFact is a live fact: what may lie in several rows, summed.
type storedFact struct {
	marketplace, adProduct, day, product string
	sums                                 five
	local                                [2]*big.Rat // exact spend and sales in the marketplace's own currency
	text                                 string      // all that was read, other measures and the rows among it, to tell states apart
}

// facts reads the live facts past the code that is tested.
func (s state) facts(t testing.TB) []storedFact {
	t.Helper()
	rows := s.query(t, `SELECT marketplace_key, ad_product, day, id, `+sumFive+`,
 sum(toDecimal128(spend_local, 6)), sum(toUInt128(spend_local_rest)), sum(toDecimal128(sales_local, 6)), sum(toUInt128(sales_local_rest)),
 count(), sum(units_sold_clicks_7d), sum(toDecimal128(sales_30d, 6))
FROM facts LEFT JOIN `+productIDs+` AS p USING (product_key)
WHERE account_id = {account:String} AND generation IN `+live+`
GROUP BY marketplace_key, ad_product, day, product_key, id
ORDER BY marketplace_key, ad_product, day, id`)
	facts := make([]storedFact, len(rows))
	for i, cells := range rows {
		f := storedFact{marketplace: cells[0], adProduct: cells[1], day: cells[2], product: cells[3], text: strings.Join(cells, " ")}
		for j := range f.sums {
			f.sums[j] = number(t, cells[4+j])
		}
		for j := range f.local {
			rest := number(t, cells[10+2*j]+"e-20")
			f.local[j] = rest.Add(rest, number(t, cells[9+2*j]))
		}
		facts[i] = f
	}
	return facts
}

// rollupsEqualFacts holds every rollup's live rows against the facts.
func (s state) rollupsEqualFacts(t testing.TB, facts []storedFact) {
	t.Helper()
	for _, level := range []struct {
		table, key string
		of         func(storedFact) string
	}{
		{"day_totals", "toString(day)", func(f storedFact) string { return f.day }},
		{"month_products", "concat(toString(month), ' ', id)", func(f storedFact) string { return f.day[:8] + "01 " + f.product }},
		{"year_products", "concat(toString(year), ' ', id)", func(f storedFact) string { return f.day[:5] + "01-01 " + f.product }},
		{"month_ad_groups", "concat(toString(month), ' ', id)", func(f storedFact) string { return f.day[:8] + "01 " + f.product }},
		{"year_ad_groups", "concat(toString(year), ' ', id)", func(f storedFact) string { return f.day[:5] + "01-01 " + f.product }},
	} {
		want := map[string]five{}
		for _, f := range facts {
			key := f.marketplace + " " + f.adProduct + " " + level.of(f)
			sums, ok := want[key]
			if !ok {
				sums = five{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
				want[key] = sums
			}
			for i := range sums {
				sums[i].Add(sums[i], f.sums[i])
			}
		}
		join := ""
		if !strings.HasSuffix(level.table, "_totals") {
			join = " LEFT JOIN " + productIDs + " AS p USING (product_key)"
		}
		got := s.query(t, `SELECT marketplace_key, ad_product, `+level.key+` AS k, `+sumFive+` FROM `+level.table+join+`
WHERE account_id = {account:String} AND generation IN `+live+` GROUP BY marketplace_key, ad_product, k`)
		for _, cells := range got {
			key := strings.Join(cells[:3], " ")
			var sums five
			for i := range sums {
				sums[i] = number(t, cells[3+i])
			}
			w, ok := want[key]
			if !ok && !sums.isZero() || ok && w.String() != sums.String() {
				t.Errorf("%s %s holds %s, its facts add up to %s", level.table, key, sums, w)
			}
			delete(want, key)
		}
		for key, sums := range want {
			if !sums.isZero() {
				t.Errorf("%s lacks %s", level.table, key)
			}
		}
	}
}

// visible is everything of an account that a reader can see, without the
// numbers of generations, which differ from load to load.
func (d *database) visible(t testing.TB, account string) string {
	t.Helper()
	var b strings.Builder
	m, err := d.db.Tables.Manifest(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Entries() {
		fmt.Fprintln(&b, e.Unit, e.Rows, e.Derived, e.Sources)
	}
	s := d.stateOf(t, account)
	facts := s.facts(t)
	s.rollupsEqualFacts(t, facts)
	for _, f := range facts {
		fmt.Fprintln(&b, f.text)
	}
	for _, table := range []string{"marketplaces", "rates", "product_titles"} {
		for _, cells := range s.query(t, "SELECT * EXCEPT (account_id, generation) FROM "+table+" WHERE account_id = {account:String} AND generation IN "+live+" ORDER BY ALL") {
			fmt.Fprintln(&b, table, cells)
		}
	}
	return b.String()
}
