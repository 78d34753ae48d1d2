package clickhouse

import (
	order "cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/query/period"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

// manyProducts writes so many products, of which most share their figures with others:
// ties, zeros and missing bases are everywhere. Some figures are larger than
// 64 bits. The marketplaces have these keys.
func manyProducts(t testing.TB, d *database, account string, keys []uint16, many int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(account))))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const columns = `INSERT INTO month_products (account_id, generation, month, product_key, marketplace_key, ad_product,
		impressions, clicks, purchases, spend, sales)`
	must(d.Cluster.Home().Insert(t.Context(), columns, func(batch conn.Batch) error {
		for key := range uint32(many) {
			for _, marketplace := range keys {
				if rng.IntN(2) == 0 {
					continue
				}
				small := func() *big.Int { return big.NewInt(int64(rng.IntN(3))) }
				money := func() decimal.Decimal { return decimal.New(int64(rng.IntN(3))*4_000, -6) }
				spend := money()
				if key%300 == 7 {
					spend = decimal.RequireFromString("99999999999999999999.123456")
				}
				if err := batch.Append(account, uint32(10), adlens.Date(2026, 1, 1).Time(), key, marketplace, uint8(adlens.SponsoredProducts),
					small(), small(), small(), spend, money()); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	ids, titles := map[string]uint32{}, map[string]string{}
	for key := uint32(1); key < uint32(many); key++ {
		id := fmt.Sprintf("P%05d", rng.IntN(1_000_000)*many+int(key))
		ids[id] = key
		if key%3 == 0 {
			titles[id] = fmt.Sprintf("title %d 'of' many", key)
		}
	}
	must(d.Loads.InsertProductNumbers(t.Context(), account, 19, map[string]uint32{"P-of-before": 1})) // of a generation that is not live
	must(d.Loads.InsertProductNumbers(t.Context(), account, 21, ids))
	must(d.Loads.InsertProductNumbers(t.Context(), account, 21, ids)) // a number may be stored twice
	must(d.Loads.InsertTitles(t.Context(), account, 20, titles))
}

// viewOf is a view of the account whose manifest promises so many rows, and so
// many products.
func viewOf(account string, keys []uint16, rows uint64) query.View {
	v := query.View{Account: account}
	entries := []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 20}, {Unit: manifest.Unit{Kind: manifest.Products}, Generation: 21, Rows: rows}}
	for i, key := range keys {
		slice := manifest.Slice{Marketplace: key, AdProduct: adlens.SponsoredProducts}
		v.Marketplaces = append(v.Marketplaces, query.Marketplace{Key: key, ID: fmt.Sprint(i), Country: []string{"DE", "UK", "US"}[i]})
		entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: slice, Start: adlens.Date(2026, 1, 1)},
			Generation: 10, Rows: rows, Sources: []manifest.Source{{Days: 1<<31 - 1}}})
	}
	v.Manifest = manifest.New(1, entries...)
	return v
}

// The engine's order is the contract's to the last row, at every sort and order, on
// every page.
func TestTheEngineRanksProductsAsTheContractSays(t *testing.T) {
	d := openShared(t)
	s := query.NewService(d.Figures, nil)
	for name, keys := range map[string][]uint16{"small keys": {1, 2, 63}, "large keys": {1, 64, 65535}} {
		account := t.Name() + name
		manyProducts(t, d, account, keys, 1500)
		v := viewOf(account, keys, 1500)
		report := func(r query.Request) *query.Report {
			p, err := s.Products(t.Context(), v, r)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		all := slices.Collect(report(everyRanking()[0]).Rows)
		for _, r := range everyRanking() {
			slices.SortFunc(all, ordering(r))
			want := &query.Report{Answer: report(r).Answer, TotalRows: len(all)}
			from := min((r.Page-1)*r.PageSize, len(all))
			if r.All && r.Page > 1 {
				from = len(all) // all rows are one page
			}
			want.Rows = slices.Values(all[from:min(from+r.PageSize, len(all))])
			if diff := cmp.Diff(shownRows(want), shownRows(report(r))); diff != "" {
				t.Fatalf("%s, by %s %s, page %d of %d (-contract +engine):\n%s", name, r.Sort, r.Order, r.Page, r.PageSize, diff)
			}
		}
	}
}

// ordering sorts products by the value as shown, null last both ways, ties by id,
// none last.
func ordering(r query.Request) func(a, b query.Row) int {
	sign := 1
	if r.Order == query.Descending {
		sign = -1
	}
	last := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	sorted := slices.IndexFunc(catalogue.Figures, func(f catalogue.Figure) bool { return f.Name == r.Sort })
	return func(a, b query.Row) int {
		noID := last(a.ID == "", b.ID == "")
		if sorted < 0 {
			return order.Or(noID, sign*strings.Compare(a.ID, b.ID))
		}
		x, y := a.Figures[sorted], b.Figures[sorted]
		by := last(x.Null(), y.Null())
		if by == 0 && !x.Null() {
			by = sign * x.Compare(y)
		}
		return order.Or(by, noID, strings.Compare(a.ID, b.ID))
	}
}

func everyRanking() []query.Request {
	var all []query.Request
	sorts := []string{query.SortProduct}
	for _, f := range catalogue.Figures {
		sorts = append(sorts, f.Name)
	}
	january := period.Period{Start: adlens.Date(2026, 1, 1), End: adlens.Date(2026, 1, 31)}
	for _, sort := range sorts {
		for _, order := range []string{query.Ascending, query.Descending} {
			for _, paging := range []query.Paging{
				{Page: 1, PageSize: query.MaxRows, All: true}, {Page: 4, PageSize: 300},
			} {
				all = append(all, query.Request{Period: january, Sort: sort, Order: order, Paging: paging})
			}
		}
	}
	for _, paging := range []query.Paging{{Page: 2, PageSize: query.MaxRows, All: true}, {Page: 900, PageSize: 1000}, {Page: 5, PageSize: 1}} {
		all = append(all, query.Request{Period: january, Sort: "spend", Order: query.Descending, Paging: paging})
	}
	return all
}

// shownRows are the rows as text, with the count that pages are made of.
func shownRows(p *query.Report) []string {
	rows := []string{fmt.Sprint(p.TotalRows, " rows, truncated ", p.Meta.Truncated)}
	for row := range p.Rows {
		text := fmt.Appendf(nil, "%q %q %v %q %q", row.ID, row.Title, row.Marketplaces, row.Campaign.ID, row.AdGroup.ID)
		for _, figure := range row.Figures {
			text = figure.Append(append(text, ' '))
		}
		if c := row.Comparison; c != nil {
			for _, figure := range slices.Concat(c.Figures, c.Change) {
				text = figure.Append(append(text, ' '))
			}
		}
		rows = append(rows, string(text))
	}
	return rows
}

// BenchmarkProducts ranks and cuts a page of a hundred.
func BenchmarkProducts(b *testing.B) {
	d := openShared(b)
	s := query.NewService(d.Figures, nil)
	keys := []uint16{1, 2, 3}
	r := query.Request{Period: period.Period{Start: adlens.Date(2026, 1, 1), End: adlens.Date(2026, 1, 31)},
		Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 100}}
	for _, n := range []int{50, 2_500, 10_000} {
		account := fmt.Sprint(b.Name(), n)
		manyProducts(b, d, account, keys, n)
		v := viewOf(account, keys, uint64(n))
		b.Run(fmt.Sprint(n, " products"), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Products(b.Context(), v, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// All products of an account may be found by a search, and their numbers are one
// parameter.
func TestAReportOfVeryManyProductsByTheirNumbers(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	keys := []uint16{1, 2, 3}
	manyProducts(t, d, t.Name(), keys, 60_000)
	r := query.Request{Period: period.Period{Start: adlens.Date(2026, 1, 1), End: adlens.Date(2026, 1, 31)},
		Dimensions: []string{"product"}, Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 10}}
	plan := query.PlanReport(r, viewOf(t.Name(), keys, 100_000))
	_, all, err := d.Figures.Ranked(t.Context(), plan.RankedStatement(r, query.NameGenerations{Products: 21, Titles: 20}), r.Sums(), false)
	if err != nil || all < 40_000 {
		t.Fatalf("%d products, %v", all, err)
	}
	for key := range uint32(60_000) {
		plan.Only[2] = append(plan.Only[2], key) // of products
	}
	if _, found, err := d.Figures.Ranked(t.Context(), plan.RankedStatement(r, query.NameGenerations{Products: 21, Titles: 20}), r.Sums(), false); err != nil || found != all {
		t.Errorf("found %d of %d products, %v", found, all, err)
	}
}
