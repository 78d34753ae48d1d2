package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query/period"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shop is a store with rows of its own, and gives units as the tables would
// have them.
type shop struct {
	Store
	view    View
	rows    map[uint32][]UnitRow // by generation of a month: in the order of days
	answers func()               // called when the engine answers; without, it may not
	mu      sync.Mutex
	reads   int // statements for units
	failed  error
}

func (s *shop) View(context.Context, string) (View, error) { return s.view, s.failed }

// DayTotals are none: what adds them up is no matter of memory.
func (s *shop) DayTotals(context.Context, Statement) ([]DayTotal, error) { return nil, s.failed }

func (s *shop) Entities(context.Context, string, uint32) ([]NamedEntity, error) { return nil, nil }

func (s *shop) ListedNames(context.Context, string, []uint32) ([]ListedName, error) { return nil, nil }

func (s *shop) ProductIDs(context.Context, string, uint32) (map[uint32]string, error) {
	ids := map[uint32]string{}
	for key := uint32(1); uint64(key) <= productsOf(s.view).Rows; key++ {
		ids[key] = fmt.Sprintf("P%d", (key*7919)%100_003) // in another order than the keys
	}
	return ids, s.failed
}

func (s *shop) Titles(_ context.Context, _ string, generation uint32) (map[string]string, error) {
	return map[string]string{"P7919": fmt.Sprint("title of ", generation)}, s.failed
}

func (s *shop) UnitRows(_ context.Context, st Statement, begin func() func(*UnitRow)) error {
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	begin()(&UnitRow{Generation: numbersOf(st.Params["generations"])[0], Measures: [5]uint64{1, 1, 1, 1, 1}}) // of an attempt that was lost
	visit := begin()
	for _, row := range s.unitRows(st) {
		visit(&row)
	}
	return s.failed
}

func (s *shop) UnitRowsBeside(ctx context.Context, st Statement, begin func() func(*UnitRow)) error {
	return s.UnitRows(ctx, st, begin)
}

// Ranked answers nothing: what memory does not have is told apart by that.
func (*shop) BucketCounts(context.Context, Statement) ([]BucketCount, error) {
	return nil, nil
}

func (s *shop) Ranked(context.Context, Statement, int, bool) ([]RankedRow, int, error) {
	s.answers()
	return nil, 0, s.failed
}

// holds says that each month of the view has so many facts.
func (s *shop) holds(facts uint64) {
	var entries []manifest.Entry
	for _, e := range s.view.Manifest.Of(manifest.Month) {
		e.Rows = facts
		entries = append(entries, e)
	}
	s.view.Manifest = s.view.Manifest.With(s.view.Manifest.Version, entries...)
}

// unitRows are what a table has of the generations of a statement, without
// summing what a rollup would: sums do not depend on it.
func (s *shop) unitRows(st Statement) (all []UnitRow) {
	for _, generation := range numbersOf(st.Params["generations"]) {
		for _, e := range append(slices.Clone(s.view.Manifest.Of(manifest.Month)), s.view.Manifest.Of(manifest.Year)...) {
			if e.Generation != generation {
				continue
			}
			for _, row := range s.rowsOf(e) {
				if only := st.Params["product_keys"]; only != "" && !slices.Contains(numbersOf(only), row.Key) {
					continue
				}
				if strings.Contains(st.SQL, "toUInt32(0)") {
					row.Key = 0
				}
				if !strings.Contains(st.SQL, "FROM facts") {
					row.Day = 0
				}
				all = append(all, row)
			}
		}
	}
	return all
}

// HeldKeys are the years that have rows of a product.
func (s *shop) HeldKeys(_ context.Context, st Statement) (held []HeldKey, err error) {
	for _, key := range numbersOf(st.Params["keys"]) {
		for _, e := range s.view.Manifest.Of(manifest.Year) {
			one := HeldKey{Key: key, Generation: e.Generation}
			for _, row := range s.rowsOf(e) {
				if row.Key == key {
					one.Rows++
				}
			}
			if one.Rows > 0 {
				held = append(held, one)
			}
		}
	}
	return held, s.failed
}

// rowsOf are the rows of a month or a year.
func (s *shop) rowsOf(e manifest.Entry) (all []UnitRow) {
	for _, month := range s.view.Manifest.Of(manifest.Month) {
		if month.Slice == e.Slice && (month.Start == e.Start || e.Kind == manifest.Year && month.Start.FirstOfYear() == e.Start) {
			for _, row := range s.rows[month.Generation] {
				row.Generation = e.Generation
				all = append(all, row)
			}
		}
	}
	return all
}

// numbersOf are the numbers of an array parameter.
func numbersOf(text string) (all []uint32) {
	for part := range strings.SplitSeq(strings.Trim(text, "[]"), ",") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			panic(err) // the text is this package's own
		}
		all = append(all, uint32(n))
	}
	return all
}

// answeredKey is a product, on a day, in a week or in a month where rows have one.
type answeredKey struct {
	key    uint32
	bucket int
}

// answered is what the days of a period have of a product.
type answered struct {
	sums         exact.Sums
	marketplaces []uint16
}

// answer sums the days of a request by product, in numbers of any size.
func (s *shop) answer(r Request) map[answeredKey]answered {
	match := s.view.sliceFilter(r)
	all := map[answeredKey]answered{}
	for _, e := range s.view.Manifest.Of(manifest.Month) {
		if !match(e.Slice) {
			continue
		}
		for _, row := range s.rows[e.Generation] {
			if row.Day < r.Period.Start || row.Day > r.Period.End {
				continue
			}
			name := answeredKey{key: row.Key}
			if r.Granularity != "" {
				name.bucket = r.offsetFrom(r.Period.Start, row.Day)
			}
			p, measured := all[name], counts(row.Measures)
			p.sums.AddSums(measured.exactSums())
			if !slices.Contains(p.marketplaces, e.Slice.Marketplace) {
				p.marketplaces = append(p.marketplaces, e.Slice.Marketplace)
			}
			all[name] = p
		}
	}
	return all
}

// listed is a page of products as the contract says: all of either period are
// sorted by what they show, and then cut.
func listed(r Request, v View, now, then map[answeredKey]answered, names productNames) *Report {
	report := emptyPage(r, v, 0)
	var all []Row
	both := maps.Clone(then)
	if both == nil {
		both = map[answeredKey]answered{}
	}
	maps.Copy(both, now)
	for name := range both {
		s := sides{now[name].sums, then[name].sums}
		if !s.isEmpty(headlineSummands) {
			one := report.newRow(v, group{bucket: name.bucket}, &s)
			one.ID, one.Title = names.ids[name.key], names.titles[names.ids[name.key]]
			if r.isOfProducts() {
				one.Marketplaces = v.countriesOf(now[name].marketplaces)
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Row) int { return before(positionOf(a, r), positionOf(b, r), r) })
	report = emptyPage(r, v, len(all))
	report.Rows = slices.Values(cutPage(all, r.Paging))
	return report
}

// drawShop draws some rows for every month of the example.
func drawShop(t *rapid.T) *shop {
	s := &shop{view: selling(exampleView(), 12), rows: map[uint32][]UnitRow{}}
	seed := rapid.Uint64().Draw(t, "seed")
	random := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return (seed >> 33) % n
	}
	large := rapid.SampledFrom([]uint64{3, 3, 1000, 1 << 16, 1 << 22, 1 << 35}).Draw(t, "size")
	for _, e := range s.view.Manifest.Of(manifest.Month) {
		for d := range 31 {
			if e.Held()>>d&1 == 0 || random(4) > 0 {
				continue
			}
			row := UnitRow{Generation: e.Generation, Day: e.Start + adlens.Day(d), Key: uint32(random(12))}
			for i := range row.Measures {
				row.Measures[i] = random(large)
			}
			if row.Measures != [5]uint64{} {
				s.rows[e.Generation] = append(s.rows[e.Generation], row)
			}
		}
	}
	return s
}

// remembering returns a service that has in memory what a request needs.
func remembering(t rapid.TB, s *shop, r Request) *Service {
	service := NewService(s, nil)
	service.Remember(s, 512<<20)
	if err := service.fillRequest(context.Background(), s.view.Account, r); err != nil {
		t.Fatal(err)
	}
	return service
}

func pointsAsText(points []Row) (all []string) {
	for _, p := range points {
		text := fmt.Sprint(p.Date, p.Figures)
		if c := p.Comparison; c != nil {
			text += fmt.Sprint(c.Date, c.Figures, c.Change)
		}
		all = append(all, text)
	}
	return all
}

func productsAsText(report *Report) []string {
	all := []string{fmt.Sprint(report.TotalRows, " rows, ", report.Meta.Truncated)}
	for _, row := range rowsOf(report) {
		text := fmt.Sprintf("%s %q %v", row.ID, row.Title, row.Marketplaces)
		if row.Date != nil {
			text += " on " + row.Date.String()
		}
		for _, figure := range row.Figures {
			text += " " + shown(figure)
		}
		if c := row.Comparison; c != nil {
			for _, figure := range slices.Concat(c.Figures, c.Change) {
				text += " " + shown(figure)
			}
		}
		all = append(all, text)
	}
	return all
}

// drawReportRequest draws a report by product, and by time too, or one that is compared.
func drawReportRequest(t *rapid.T) Request {
	r, sorting := drawRequest(t, "2024-09-01", "2027-01-31"), drawSorting(t)
	r.Dimensions, r.Sort, r.Order = sorting.Dimensions, sorting.Sort, sorting.Order
	if way := rapid.SampledFrom([]period.Name{"", period.PreviousPeriod, period.PreviousYear}).Draw(t, "compare"); way != "" {
		r.Earlier = r.Period.Earlier(way)
	} else if r.Granularity = rapid.SampledFrom([]string{"", ByDay, ByWeek, ByMonth}).Draw(t, "granularity"); r.Granularity != "" {
		time := map[string]string{ByDay: dimDate, ByWeek: dimWeek, ByMonth: dimMonth}[r.Granularity]
		r.Dimensions = rapid.SampledFrom([][]string{{time, dimProduct}, {dimProduct, time}}).Draw(t, "dimensions")
	}
	r.Paging = rapid.SampledFrom([]Paging{{1, MaxRows, true}, {2, MaxRows, true}, {1, 3, false}, {2, 3, false}, {9, 5, false}, {1, 100, false}}).Draw(t, "page")
	return r
}

// mustBeOfTheDays compares a report with what the days of either period have.
func mustBeOfTheDays(t *rapid.T, service *Service, s *shop, r Request, got *Report) {
	var then map[answeredKey]answered
	if r.Compared() {
		then = s.answer(r.EarlierRequest())
	}
	names, err := service.directory.getNames(context.Background(), s.view)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(productsAsText(listed(r, s.view, s.answer(r), then, names)), productsAsText(got)); diff != "" {
		t.Fatalf("(-days +memory):\n%s", diff)
	}
}

func TestReportsFromMemoryAreThoseOfTheDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := drawShop(t), drawReportRequest(t)
		service := remembering(t, s, r)
		plan := PlanReport(r, s.view)
		if plan.Empty() && plan.earlierPlan().Empty() {
			return
		}
		got, ok := remembered(t, service, s.view, r)
		if !ok {
			t.Fatal("the report is not answered from memory")
		}
		mustBeOfTheDays(t, service, s, r, got)
	})
}

// What filters leave is read once, and answers for its report, its totals and its
// timeline.
func TestReportsOfSomeProductsAreThoseOfTheirDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := drawShop(t), drawReportRequest(t)
		service := NewService(s, nil)
		service.Remember(s, 512<<20)
		only := rapid.SliceOfNDistinct(rapid.Uint32Range(1, 11), 1, 3, rapid.ID).Draw(t, "products")
		ids, _ := s.ProductIDs(t.Context(), "", 0)
		for _, key := range only {
			r.Filters.Products = append(r.Filters.Products, ids[key])
		}
		slices.Sort(r.Filters.Products)
		got, err := service.Report(t.Context(), s.view, r)
		if err != nil {
			t.Fatal(err)
		}
		reads := s.reads
		timeline := r
		timeline.Granularity = cmp.Or(r.Granularity, ByMonth)
		points, err := service.Timeline(t.Context(), s.view, timeline)
		if err != nil || r.Granularity == ByMonth && s.reads > reads+1 {
			t.Fatalf("the timeline took %d statements: %v", s.reads-reads, err)
		}
		alone := &shop{view: s.view, rows: map[uint32][]UnitRow{}}
		for generation, rows := range s.rows {
			alone.rows[generation] = slices.DeleteFunc(slices.Clone(rows), func(row UnitRow) bool { return !slices.Contains(only, row.Key) })
		}
		mustBeOfTheDays(t, service, alone, r, got)
		var all sides
		sums := map[group]*sides{} // by bucket
		for side, of := range []Request{current: timeline, earlier: timeline.EarlierRequest()} {
			if side == earlier && !r.Compared() {
				break
			}
			for name, one := range alone.answer(of) {
				all[side].AddSums(one.sums)
				sumsAt(sums, group{bucket: name.bucket}, side).AddSums(one.sums)
			}
		}
		if want := got.figuresOf(all[current]); !slices.Equal(got.Total, want) {
			t.Fatalf("in total %v, expected %v", got.Total, want)
		}
		expected := newTimeline(timeline, s.view, sums).Points
		if diff := gocmp.Diff(pointsAsText(expected), pointsAsText(points.Points)); diff != "" {
			t.Fatalf("(-days +timeline):\n%s", diff)
		}
	})
}

// largeShop is six years of eighteen slices with so many products each, all in
// January and in the last month.
func largeShop(products uint32) *shop {
	s := &shop{view: View{Account: "large"}, rows: map[uint32][]UnitRow{}}
	var entries []manifest.Entry
	for i, country := range []string{"CA", "DE", "FR", "JP", "UK", "US"} {
		key := uint16(i + 1)
		s.view.Marketplaces = append(s.view.Marketplaces, Marketplace{Key: key, ID: country, Country: country})
		for _, ad := range []adlens.AdProduct{adlens.SponsoredProducts, adlens.SponsoredBrands, adlens.SponsoredDisplay} {
			slice := manifest.Slice{Marketplace: key, AdProduct: ad}
			entries = append(entries, holding(slice, [2]string{"2020-01-01", "2025-12-31"})...)
			for year := 2020; year < 2026; year++ {
				s.fill(slice, adlens.Date(year, 1, 1), products)
			}
			s.fill(slice, adlens.Date(2025, 12, 1), products)
		}
	}
	s.view.Manifest = manifest.New(1, entries...)
	s.view = selling(s.view, uint64(products))
	return s
}

// fill gives a month of a slice a row of each product, on one of its days.
func (s *shop) fill(slice manifest.Slice, month adlens.Day, products uint32) {
	generation := generationOf(manifest.Unit{Kind: manifest.Month, Slice: slice, Start: month})
	for key := range products {
		n := uint64(key)*2654435761 + uint64(generation)
		s.rows[generation] = append(s.rows[generation], UnitRow{Generation: generation, Day: month + adlens.Day(key*28/products),
			Key: key, Measures: [5]uint64{n % 9000, n % 300, n % 7, n % 99_000_000, n % 900_000_000}})
	}
}

func benchmarkRemembered(b *testing.B, service *Service, v View, r Request) {
	for b.Loop() {
		if _, ok := remembered(b, service, v, r); !ok {
			b.Fatal("the report is not answered from memory")
		}
	}
}

// BenchmarkRemembered answers the first hundred products of eighteen slices.
func BenchmarkRemembered(b *testing.B) {
	s := largeShop(10_000)
	for _, c := range []struct{ from, to, sort string }{
		{"2020-01-01", "2025-12-31", "spend"}, {"2020-01-01", "2025-12-31", "acos"}, {"2020-01-01", "2025-12-31", "purchases"},
		{"2020-02-10", "2025-02-09", "spend"}, {"2025-12-02", "2025-12-31", "spend"}, {"2025-12-02", "2025-12-31", SortProduct},
	} {
		r := Request{Period: days(c.from, c.to), Sort: c.sort, Order: Descending, Paging: Paging{Page: 1, PageSize: 100}}
		service := remembering(b, s, r)
		b.Run(c.from+" by "+c.sort, func(b *testing.B) { benchmarkRemembered(b, service, s.view, r) })
		r.Earlier = r.Period // as many rows on either side
		r.Earlier.Range = period.PreviousYear
		b.Run(c.from+" by "+c.sort+" compared", func(b *testing.B) { benchmarkRemembered(b, service, s.view, r) })
	}
}
