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
	report := tallied(allRows(1), exampleView(), rows, names)
	if _, more := report.Request.NextPage(report.TotalRows); len(rowsOf(report)) != 3 || report.Request.TotalPages(report.TotalRows) != 1 || more || report.Meta.Truncated {
		t.Errorf("%d rows, %d pages, more: %v, truncated: %v", len(rowsOf(report)), report.Request.TotalPages(report.TotalRows), more, report.Meta.Truncated)
	}
	if report := tallied(allRows(2), exampleView(), rows, names); len(rowsOf(report)) != 0 {
		t.Errorf("a second page has %d rows", len(rowsOf(report)))
	}
}

func TestAllRowsBeyondTheCapAreCutAndSaidToBe(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	report := tallied(allRows(1), exampleView(), manyRows(MaxRows+1), productNames{})
	if len(rowsOf(report)) != MaxRows || !report.Meta.Truncated || report.TotalRows != MaxRows+1 {
		t.Errorf("%d of %d rows, truncated: %v", len(rowsOf(report)), report.TotalRows, report.Meta.Truncated)
	}
	if _, more := report.Request.NextPage(report.TotalRows); more || report.Request.TotalPages(report.TotalRows) != 1 {
		t.Errorf("%d pages, more: %v", report.Request.TotalPages(report.TotalRows), more)
	}
}

func TestExactlyTheCapIsNotTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	if report := tallied(allRows(1), exampleView(), manyRows(MaxRows), productNames{}); report.Meta.Truncated || len(rowsOf(report)) != MaxRows {
		t.Errorf("%d rows, truncated: %v", len(rowsOf(report)), report.Meta.Truncated)
	}
}

// Paging leaves nothing out: the rest is on other pages, also beyond the cap
// of an answer with all rows.
func TestPagesBeyondTheCapAreNotTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows")
	}
	r := Request{Sort: "spend", Order: Descending, Paging: Paging{Page: 101, PageSize: catalogue.MaxPageSize}}
	report := tallied(r, exampleView(), manyRows(MaxRows+1), productNames{})
	if _, more := report.Request.NextPage(report.TotalRows); report.Meta.Truncated || len(rowsOf(report)) != 1 || report.Request.TotalPages(report.TotalRows) != 101 || more {
		t.Errorf("%d rows on the last of %d pages, truncated: %v, more: %v", len(rowsOf(report)), report.Request.TotalPages(report.TotalRows), report.Meta.Truncated, more)
	}
}

// The report of all rows has one page, so a second one is past the end even
// where the cap left rows out of the first.
func TestTheSecondPageOfAllRowsIsPastTheEndBeyondTheCap(t *testing.T) {
	if rows := cutPage(make([]Row, MaxRows+5), allRows(2).Paging); len(rows) != 0 {
		t.Errorf("%d rows on page 2 of 1", len(rows))
	}
}
