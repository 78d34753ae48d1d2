package query

import (
	"testing"

	"adlens/internal/catalogue"
)

func allRows(page int) Request {
	return Request{Period: days("2026-01-01", "2026-01-31"), Sort: "spend", Order: Descending, Paging: Paging{Page: page, PageSize: MaxRows, All: true}}
}

// manyRows are n products: only their number matters.
func manyRows(n int) []reportRow {
	rows := make([]reportRow, n)
	for i := range rows {
		rows[i] = reportRow{key: uint32(i), marketplaces: []uint16{usKey}, now: counts{clicks: 1}}
	}
	return rows
}

func TestAllRowsAreOnePage(t *testing.T) {
	rows, names := exampleReport()
	p := tallied(allRows(1), exampleView(), rows, names)
	if _, more := p.Request.NextPage(p.TotalRows); len(rowsOf(p)) != 3 || p.Request.TotalPages(p.TotalRows) != 1 || more || p.Meta.Truncated {
		t.Errorf("%d rows, %d pages, more: %v, truncated: %v", len(rowsOf(p)), p.Request.TotalPages(p.TotalRows), more, p.Meta.Truncated)
	}
	if p := tallied(allRows(2), exampleView(), rows, names); len(rowsOf(p)) != 0 {
		t.Errorf("a second page has %d rows", len(rowsOf(p)))
	}
}

func TestAllRowsBeyondTheCapAreCutAndSaidToBe(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	p := tallied(allRows(1), exampleView(), manyRows(MaxRows+1), productNames{})
	if len(rowsOf(p)) != MaxRows || !p.Meta.Truncated || p.TotalRows != MaxRows+1 {
		t.Errorf("%d of %d rows, truncated: %v", len(rowsOf(p)), p.TotalRows, p.Meta.Truncated)
	}
	if _, more := p.Request.NextPage(p.TotalRows); more || p.Request.TotalPages(p.TotalRows) != 1 {
		t.Errorf("%d pages, more: %v", p.Request.TotalPages(p.TotalRows), more)
	}
}

func TestExactlyTheCapIsNotTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	if p := tallied(allRows(1), exampleView(), manyRows(MaxRows), productNames{}); p.Meta.Truncated || len(rowsOf(p)) != MaxRows {
		t.Errorf("%d rows, truncated: %v", len(rowsOf(p)), p.Meta.Truncated)
	}
}

// Paging leaves nothing out: the rest is on other pages, also beyond the cap
// of an answer with all rows.
func TestPagesBeyondTheCapAreNotTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	r := Request{Sort: "spend", Order: Descending, Paging: Paging{Page: 101, PageSize: catalogue.MaxPageSize}}
	p := tallied(r, exampleView(), manyRows(MaxRows+1), productNames{})
	if _, more := p.Request.NextPage(p.TotalRows); p.Meta.Truncated || len(rowsOf(p)) != 1 || p.Request.TotalPages(p.TotalRows) != 101 || more {
		t.Errorf("%d rows on the last of %d pages, truncated: %v, more: %v", len(rowsOf(p)), p.Request.TotalPages(p.TotalRows), p.Meta.Truncated, more)
	}
}

// The report of all rows has one page, so a second one is past the end even
// where the cap left rows out of the first.
func TestTheSecondPageOfAllRowsIsPastTheEndBeyondTheCap(t *testing.T) {
	if rows := cutPage(make([]Row, MaxRows+5), allRows(2)); len(rows) != 0 {
		t.Errorf("%d rows on page 2 of 1", len(rows))
	}
}
