package query

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"adlens"
	"adlens/internal/catalogue"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// reportRow is the sums of a product in the period, and in the earlier one.
type reportRow struct {
	key          uint32
	marketplaces []uint16
	now, then    counts
}

// tallied is the report of some rows.
func tallied(r Request, v View, rows []reportRow, names productNames) *Report {
	if r.Dimensions == nil {
		r.Dimensions = []string{dimProduct}
	}
	last := uint32(0)
	for _, row := range rows {
		last = max(last, row.key)
	}
	now, then := &tallies{make([]tally, last+1)}, &tallies{make([]tally, last+1)}
	for _, row := range rows {
		var marked uint64
		for i, m := range v.Marketplaces {
			if slices.Contains(row.marketplaces, m.Key) {
				marked |= 1 << i
			}
		}
		if row.now != (counts{}) { // rows without figures are in no unit
			now.of[row.key] = tally{row.now, marked}
		}
		if row.then != (counts{}) {
			then.of[row.key] = tally{row.then, marked}
		}
	}
	names.setIDs(names.ids)
	if !r.Compared() {
		then = nil
	}
	ranked := ranking{request: r, names: &names, compare: placeComparison(r)}
	ranked.addBucket(0, now, then)
	return ranked.report(v)
}

// drawReport draws rows and the names for them: key 0 is figures without a
// product, key n is P00n.
func drawReport(t *rapid.T) ([]reportRow, productNames) {
	names := productNames{ids: map[uint32]string{}, titles: map[string]string{}}
	var rows []reportRow
	for key := range uint32(rapid.IntRange(0, 25).Draw(t, "products")) {
		if key > 0 {
			names.ids[key] = fmt.Sprintf("P%03d", key)
		}
		rows = append(rows, reportRow{key: key, marketplaces: []uint16{usKey}, now: drawCounts(t)})
	}
	return rows, names
}

// drawCounts draws small measures: ties and zeros are wanted.
func drawCounts(t *rapid.T) (c counts) {
	for m := range c {
		c[m] = rapid.Uint64Range(0, 3).Draw(t, catalogue.Headline[m].Name)
		if catalogue.Headline[m].IsAmount() {
			c[m] *= 4_000
		}
	}
	return c
}

func drawSorting(t *rapid.T) Request {
	return Request{
		Dimensions: []string{dimProduct},
		Period:     days("2026-01-01", "2026-01-31"),
		Sort:       rapid.SampledFrom(catalogue.ProductSorts).Draw(t, "sort"),
		Order:      rapid.SampledFrom([]string{Ascending, Descending}).Draw(t, "order"),
		Paging:     Paging{Page: 1, PageSize: MaxRows, All: true},
	}
}

// rowsOf are the rows of a page.
func rowsOf(report *Report) []Row { return slices.Collect(report.Rows) }

func ids(rows []Row) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.ID
	}
	return all
}

func TestPagesNeverOverlapAndTogetherAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, names := drawReport(t)
		r := drawSorting(t)
		whole := tallied(r, exampleView(), rows, names)
		r.All, r.PageSize = false, rapid.IntRange(1, 7).Draw(t, "page size")
		var together []string
		for next := true; next; r.Page++ {
			report := tallied(r, exampleView(), rows, names)
			mustCount(t, report, len(rowsOf(whole)))
			together = append(together, ids(rowsOf(report))...)
			_, next = report.Request.NextPage(report.TotalRows)
		}
		if diff := gocmp.Diff(ids(rowsOf(whole)), together, gocmp.Transformer("none", func(s []string) string { return fmt.Sprintf("%q", s) })); diff != "" {
			t.Fatalf("(-whole +pages):\n%s", diff)
		}
	})
}

func mustCount(t *rapid.T, report *Report, total int) {
	pages := (total + report.Request.PageSize - 1) / report.Request.PageSize
	if report.TotalRows != total || report.Request.TotalPages(report.TotalRows) != pages {
		t.Fatalf("%d rows in %d pages, want %d in %d", report.TotalRows, report.Request.TotalPages(report.TotalRows), total, pages)
	}
	if page, more := report.Request.NextPage(report.TotalRows); more != (report.Request.Page < pages) || more && page != report.Request.Page+1 {
		t.Fatalf("after page %d of %d comes %d, %v", report.Request.Page, pages, page, more)
	}
}

// position is where a row belongs, said by what is shown of it.
type position struct {
	null  bool
	value *big.Rat
	noID  bool
	id    string
	date  adlens.Day
}

func positionOf(p Row, r Request) position {
	at := position{noID: p.ID == "", id: p.ID, value: new(big.Rat)}
	if p.Date != nil {
		at.date = *p.Date
	}
	if r.Sort == SortProduct {
		return at
	}
	if text := figure(p.Figures, r.Sort); text == "null" {
		at.null = true
	} else if _, ok := at.value.SetString(text); !ok {
		panic(text)
	}
	return at
}

// before compares as the contract says: by the value as shown, nulls last in
// both orders, ties by the dimensions ascending, null last.
func before(a, b position, r Request) int {
	sign := 1
	if r.Order == Descending {
		sign = -1
	}
	byID := cmp.Compare(a.id, b.id)
	if r.Sort == SortProduct {
		byID *= sign
	}
	byID = cmp.Or(falseFirst(a.noID, b.noID), byID)
	first := cmp.Or(falseFirst(a.null, b.null), sign*a.value.Cmp(b.value))
	if r.Sort != SortProduct && len(r.Dimensions) > 0 && r.Dimensions[0] != dimProduct {
		return cmp.Or(first, cmp.Compare(a.date, b.date), byID)
	}
	return cmp.Or(first, byID, cmp.Compare(a.date, b.date))
}

func falseFirst(a, b bool) int {
	return cmp.Compare(map[bool]int{true: 1}[a], map[bool]int{true: 1}[b])
}

func TestRowsAreOrderedByWhatTheyShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, names := drawReport(t)
		r := drawSorting(t)
		whole := tallied(r, exampleView(), rows, names)
		for i := 1; i < len(rowsOf(whole)); i++ {
			a, b := positionOf(rowsOf(whole)[i-1], r), positionOf(rowsOf(whole)[i], r)
			if before(a, b, r) >= 0 {
				t.Fatalf("by %s %s, %+v is listed before %+v", r.Sort, r.Order, a, b)
			}
		}
	})
}

// exampleReport: B and A tie as shown, though B's exact spend is greater.
func exampleReport() ([]reportRow, productNames) {
	names := productNames{ids: map[uint32]string{1: "A", 2: "B", 3: "C"}, titles: map[string]string{"B": "The B"}}
	return []reportRow{
		{key: 0, marketplaces: []uint16{usKey}, now: counts{10, 1, 0, 1_000_000, 0}},
		{key: 1, marketplaces: []uint16{uk1Key, usKey}, now: counts{10, 1, 0, 1_001_000, 2_000_000}},
		{key: 2, marketplaces: []uint16{uk2Key, usKey, uk1Key}, now: counts{10, 1, 0, 1_002_000, 1_000_000}},
		{key: 3},
	}, names
}

func TestNullsAndTheRowWithoutProductComeLastInBothOrders(t *testing.T) {
	rows, names := exampleReport()
	for _, c := range []struct{ sort, order, want string }{
		{"spend", Descending, `["A" "B" ""]`}, // all three show 1.00: a tie
		{"spend", Ascending, `["A" "B" ""]`},
		{"acos", Descending, `["B" "A" ""]`}, // without sales acos is null
		{"acos", Ascending, `["A" "B" ""]`},
		{"sales", Ascending, `["" "B" "A"]`}, // 0.00 is no null
		{SortProduct, Ascending, `["A" "B" ""]`},
		{SortProduct, Descending, `["B" "A" ""]`},
	} {
		r := Request{Period: days("2026-01-01", "2026-01-31"), Sort: c.sort, Order: c.order, Paging: Paging{Page: 1, PageSize: 10}}
		if got := fmt.Sprintf("%q", ids(rowsOf(tallied(r, exampleView(), rows, names)))); got != c.want {
			t.Errorf("by %s %s: %s, want %s", c.sort, c.order, got, c.want)
		}
	}
}

func TestARowHasItsTitleAndEachOfItsCountriesOnce(t *testing.T) {
	rows, names := exampleReport()
	report := tallied(Request{Sort: SortProduct, Order: Ascending, Paging: Paging{Page: 1, PageSize: 10}}, exampleView(), rows, names)
	if b := rowsOf(report)[1]; b.Title != "The B" || !slices.Equal(b.Marketplaces, []string{"UK", "US"}) {
		t.Errorf("got %+v", b)
	}
	if a := rowsOf(report)[0]; a.Title != "" {
		t.Errorf("A has no title and shows %q", a.Title)
	}
}

func TestRowsWithoutFiguresAreNeitherListedNorCounted(t *testing.T) {
	rows, names := exampleReport()
	report := tallied(Request{Sort: "spend", Order: Descending, Paging: Paging{Page: 1, PageSize: 2}}, exampleView(), rows, names)
	if report.TotalRows != 3 || report.Request.TotalPages(report.TotalRows) != 2 || len(rowsOf(report)) != 2 {
		t.Errorf("%d rows in %d pages, %d on the first", report.TotalRows, report.Request.TotalPages(report.TotalRows), len(rowsOf(report)))
	}
}

func TestAPagePastTheEndIsEmptyAndHasNoNext(t *testing.T) {
	rows, names := exampleReport()
	for _, page := range []int{3, 100, catalogue.MaxPage} {
		report := tallied(Request{Sort: "spend", Order: Descending, Paging: Paging{Page: page, PageSize: catalogue.MaxPageSize / 500}}, exampleView(), rows, names)
		if _, more := report.Request.NextPage(report.TotalRows); len(rowsOf(report)) != 0 || more || report.Request.TotalPages(report.TotalRows) != 2 {
			t.Errorf("page %d: %d rows of %d pages, more: %v", page, len(rowsOf(report)), report.Request.TotalPages(report.TotalRows), more)
		}
	}
}

func TestAReportWithoutRowsHasNoPages(t *testing.T) {
	for _, all := range []bool{false, true} {
		report := tallied(Request{Sort: "spend", Order: Descending, Paging: Paging{Page: 1, PageSize: 100, All: all}}, exampleView(), nil, productNames{})
		if _, more := report.Request.NextPage(report.TotalRows); report.Request.TotalPages(report.TotalRows) != 0 || more || len(rowsOf(report)) != 0 || report.Meta.Truncated {
			t.Errorf("%d pages, more: %v, rows %v", report.Request.TotalPages(report.TotalRows), more, rowsOf(report))
		}
	}
}

// 32-bit products of page and size would wrap around into a page of rows.
func TestTheLastPageThatCanBeAskedForIsPastTheEnd(t *testing.T) {
	if rows := cutPage(make([]Row, 10), Paging{Page: catalogue.MaxPage, PageSize: catalogue.MaxPageSize}); len(rows) != 0 {
		t.Errorf("%d rows", len(rows))
	}
}
