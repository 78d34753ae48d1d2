package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/figures"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/query/period"
	"adlens/loader"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

// seen is the database with a view of its own.
type seen struct {
	*figures.Store
	view query.View
}

func (s seen) View(context.Context, string) (query.View, error) { return s.view, nil }

// threeMonths writes facts, months and years of two marketplaces, and returns
// their view. Ties are the rule.
func threeMonths(t *testing.T, d *database, account string) query.View {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	v := query.View{Account: account, Marketplaces: []query.Marketplace{{Key: 7, ID: "1", Country: "DE"}, {Key: 9000, ID: "2", Country: "US"}}}
	entries := []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 20}, {Unit: manifest.Unit{Kind: manifest.Products}, Generation: 21, Rows: 299},
		{Unit: manifest.Unit{Kind: manifest.Entities}, Generation: 22, Rows: 40}}
	must(d.Cluster.Home().Insert(t.Context(), `INSERT INTO facts (account_id, generation, day, product_key, campaign_key, ad_group_key, marketplace_key, ad_product,
		impressions, clicks, purchases, spend, sales)`, func(batch conn.Batch) error {
		for i, m := range v.Marketplaces {
			slice := manifest.Slice{Marketplace: m.Key, AdProduct: adlens.SponsoredBrands}
			for month := range 3 {
				generation := uint32(100 + 10*i + month)
				start := adlens.Date(2026, time.Month(1+month), 1)
				entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: slice, Start: start},
					Generation: generation, Rows: 1000, Derived: []uint64{0, 1, 1}, Sources: []manifest.Source{{Days: manifest.DaysBetween(start, start.LastOfMonth())}}})
				for range 1000 {
					few := func() uint64 { return uint64(rng.IntN(3)) }
					impressions := few() * uint64(1+rng.IntN(16)/15*(1<<30))
					if err := batch.Append(account, generation, (start + adlens.Day(rng.IntN(28))).Time(), uint32(rng.IntN(300)), uint32(max(0, 2*rng.IntN(20)-1)), uint32(2*rng.IntN(20)), m.Key, uint8(adlens.SponsoredBrands),
						impressions, few(), few(), decimal.New(int64(few())*4_000, -6), decimal.New(int64(few())*123_456_789, -6)); err != nil {
						return err
					}
				}
			}
			entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Year, Slice: slice, Start: adlens.Date(2026, 1, 1)}, Generation: uint32(200 + i), Derived: []uint64{1}})
		}
		return nil
	}))
	for table, keys := range map[string]string{"products": "product_key", "ad_groups": "campaign_key, ad_group_key, product_key"} {
		const sums = "impressions, clicks, purchases, spend, sales"
		must(d.Cluster.Exec(t.Context(), `INSERT INTO month_`+table+` (account_id, generation, month, `+keys+`, marketplace_key, ad_product, `+sums+`)
			SELECT account_id, generation, toStartOfMonth(day), `+keys+`, marketplace_key, ad_product,
			sum(toUInt128(impressions)), sum(toUInt128(clicks)), sum(toUInt128(purchases)), sum(toDecimal128(spend, 6)), sum(toDecimal128(sales, 6))
			FROM facts WHERE account_id = {account:String} GROUP BY ALL`, conn.Params{"account": account}))
		must(d.Cluster.Exec(t.Context(), `INSERT INTO year_`+table+` (account_id, generation, year, `+keys+`, marketplace_key, ad_product, `+sums+`)
			SELECT account_id, if(marketplace_key = 7, 200, 201), toStartOfYear(month), `+keys+`, marketplace_key, ad_product,
			sum(impressions), sum(clicks), sum(purchases), sum(spend), sum(sales)
			FROM month_`+table+` WHERE account_id = {account:String} GROUP BY ALL`, conn.Params{"account": account}))
	}
	entities := map[adlens.EntityID]*loader.Entity{}
	for key := uint32(1); key <= 40; key++ { // odd ones are campaigns
		of := adlens.EntityID{Type: adlens.CampaignEntity, ID: fmt.Sprint("C", key*7919%101)}
		if key%2 == 0 {
			of.Type = adlens.AdGroupEntity
		}
		entities[of] = &loader.Entity{Key: key}
	}
	must(d.Loads.InsertEntities(t.Context(), account, 22, entities))
	ids := map[string]uint32{}
	for key := uint32(1); key < 300; key++ {
		ids[fmt.Sprintf("P%05d", key*7919%100_003)] = key
	}
	must(d.Loads.InsertProductNumbers(t.Context(), account, 21, ids))
	must(d.Loads.InsertTitles(t.Context(), account, 20, map[string]string{"P07919": "one"}))
	v.Manifest = manifest.New(1, entries...)
	return v
}

// A campaign that marketplaces name differently keeps each name, and is one: servers of
// the version before count it so, too.
func TestAnEntityHasANameOfEachMarketplaceAndCountsOnce(t *testing.T) {
	d := openShared(t)
	named := func(market uint16, text string) adlens.MarketplaceName {
		return adlens.MarketplaceName{Marketplace: market, DatedName: adlens.DatedName{Text: text, At: time.Date(2026, 11, int(market), 0, 0, 0, 0, time.UTC)}}
	}
	stored := map[adlens.EntityID]*loader.Entity{
		{Type: adlens.CampaignEntity, ID: "5"}: {Key: 1, Names: []adlens.MarketplaceName{named(7, "Lamps"), named(9, "Lampen")}},
		{Type: adlens.AdGroupEntity, ID: "5"}:  {Key: 2},
	}
	if err := d.Loads.InsertEntities(t.Context(), t.Name(), 22, stored); err != nil {
		t.Fatal(err)
	}
	read, err := d.Loads.Entities(t.Context(), t.Name(), 22)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range read {
		slices.SortFunc(e.Names, func(a, b adlens.MarketplaceName) int { return cmp.Compare(a.Marketplace, b.Marketplace) })
	}
	if diff := gocmp.Diff(stored, read); diff != "" {
		t.Errorf("read (-stored +read):\n%s", diff)
	}
	counts, err := d.Tables.CountRows(t.Context(), t.Name(), "entities")
	if len(counts) != 1 || counts[0].Generation != 22 || counts[0].Rows != 2 {
		t.Errorf("counted %v: %v, expected two rows", counts, err)
	}
}

// Whatever is asked, memory and engine say the same.
func TestMemoryAnswersAsTheEngineDoes(t *testing.T) {
	d := openShared(t)
	v := threeMonths(t, d, t.Name())
	store := seen{d.Figures, v}
	engine, memory := query.NewService(store, nil), query.NewService(store, nil)
	memory.Remember(store, 64<<20)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go keepFilled(ctx, t, memory)
	for _, p := range []period.Period{
		{Start: adlens.Date(2025, 1, 1), End: adlens.Date(2026, 12, 31)}, // years
		{Start: adlens.Date(2026, 2, 1), End: adlens.Date(2026, 3, 31)},  // months
		{Start: adlens.Date(2026, 1, 9), End: adlens.Date(2026, 3, 17)},  // days, a month, and days
		{Start: adlens.Date(2026, 2, 5), End: adlens.Date(2026, 2, 5)},   // one day
	} {
		for i, r := range everyRanking() {
			r.Period = p
			if i%3 == 0 {
				r.Filters.Marketplaces = []string{"US"}
			}
			for _, dimension := range []string{"product", "campaign", "ad_group"} {
				r.Dimensions = []string{dimension}
				if slices.Contains([]string{query.SortProduct, "campaign", "ad_group"}, r.Sort) {
					r.Sort = map[string]string{"product": query.SortProduct}[dimension]
					r.Sort = cmp.Or(r.Sort, dimension)
				}
				want, err := engine.Report(t.Context(), v, r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(shownRows(want), shownRows(fromMemory(t, d, memory, v, r))); diff != "" {
					t.Fatalf("%s to %s, %s by %s %s (-engine +memory):\n%s", p.Start, p.End, dimension, r.Sort, r.Order, diff)
				}
			}
		}
	}
}

// keepFilled reads into memory what was missed.
func keepFilled(ctx context.Context, t *testing.T, s *query.Service) {
	for ctx.Err() == nil {
		worked, err := s.Fill(ctx)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		if !worked {
			select {
			case <-ctx.Done():
			case <-s.Missed():
			}
		}
	}
}

// fromMemory asks until the answer needs no statement.
func fromMemory(t *testing.T, d *database, s *query.Service, v query.View, r query.Request) *query.Report {
	t.Helper()
	if r.Dimensions == nil {
		r.Dimensions = []string{"product"}
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		before := d.Cluster.Work().Statements
		p, err := s.Report(t.Context(), v, r)
		if err != nil {
			t.Fatal(err)
		}
		if d.Cluster.Work().Statements == before {
			return p
		}
	}
	t.Fatalf("the engine is still asked for %v by %s", r.Dimensions, r.Sort)
	return nil
}

// A number beyond what is kept in memory must not come as a smaller one.
func TestUnitsSayWhatIsTooLargeForThem(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	huge, _ := new(big.Int).SetString("18446744073709551617", 10) // 2^64 + 1
	err := d.Cluster.Home().Insert(t.Context(), `INSERT INTO month_products (account_id, generation, month, product_key, marketplace_key, ad_product,
		impressions, clicks, purchases, spend, sales)`, func(batch conn.Batch) error {
		return batch.Append(account, uint32(10), adlens.Date(2026, 1, 1).Time(), uint32(1), uint16(1), uint8(1),
			huge, huge, big.NewInt(7), decimal.RequireFromString("99999999999999999999.123456"), decimal.RequireFromString("0.000001"))
	})
	if err != nil {
		t.Fatal(err)
	}
	slice := manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}
	v := query.View{Account: account, Marketplaces: []query.Marketplace{{Key: 1, ID: "1", Country: "DE"}}, Manifest: manifest.New(1,
		manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: slice, Start: adlens.Date(2026, 1, 1)}, Generation: 10, Sources: []manifest.Source{{Days: 1}}})}
	store := rowsSeen{seen: seen{d.Figures, v}, rows: make(chan query.UnitRow, 10)}
	s := query.NewService(store, nil)
	s.Remember(store, 1<<20)
	r := query.Request{Period: period.Period{Start: adlens.Date(2026, 1, 1), End: adlens.Date(2026, 1, 31)}, Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 10}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go keepFilled(ctx, t, s)
	ask := func() {
		t.Helper()
		p, err := s.Products(t.Context(), v, r)
		const want = `"" "" [DE] "" "" 99999999999999999999.12 0.00 9999999999999999999912345600.00 0.00 18446744073709551617 18446744073709551617 100.00 5.42 7 0.00`
		if err != nil || len(shownRows(p)) != 2 || shownRows(p)[1] != want {
			t.Errorf("%v, %v", shownRows(p), err)
		}
	}
	ask()
	if first := <-store.rows; first.Measures != [5]uint64{1<<63 - 1, 1<<63 - 1, 7, 1<<63 - 1, 1} {
		t.Errorf("%+v", first)
	}
	ask()
}

// rowsSeen shows which rows came.
type rowsSeen struct {
	seen
	rows chan query.UnitRow
}

func (s rowsSeen) UnitRows(ctx context.Context, st query.Statement, begin func() (visit func(*query.UnitRow))) error {
	return s.Store.UnitRows(ctx, st, func() func(*query.UnitRow) {
		visit := begin()
		return func(r *query.UnitRow) {
			s.rows <- *r
			visit(r)
		}
	})
}
