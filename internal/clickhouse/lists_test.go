package clickhouse

import (
	"fmt"
	"net/url"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/query/period"
)

// A report of all measures names the months that lack each, in both periods: together more
// than a server takes in an address.
func TestAReportOfAllMeasuresOfManyMonthsIsAnswered(t *testing.T) {
	d := openShared(t)
	r := query.Request{Dimensions: []string{"campaign"}, Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 10},
		Period:  period.Period{Start: adlens.Date(2024, 1, 1), End: adlens.Date(2025, 12, 31), Range: period.Custom},
		Earlier: period.Period{Start: adlens.Date(2022, 1, 1), End: adlens.Date(2023, 12, 31), Range: period.PreviousPeriod}}
	for i := range catalogue.ReportFigures {
		r.Figures = append(r.Figures, i)
	}
	v := query.View{Account: t.Name()}
	entries := []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Products}, Generation: 21}, {Unit: manifest.Unit{Kind: manifest.Entities}, Generation: 22}}
	for key := range uint16(12) {
		v.Marketplaces = append(v.Marketplaces, query.Marketplace{Key: key, ID: fmt.Sprint(key), Country: "US"})
		for month := range 48 {
			for _, product := range adlens.AdProducts {
				entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: key, AdProduct: product},
					Start: adlens.Date(2022, 1, 1).AddMonths(month)}, Generation: 4_000_000_000 + uint32(len(entries)), Rows: 1, Sources: []manifest.Source{{Days: 1}}})
			}
		}
	}
	v.Manifest = manifest.New(1, entries...)
	statement := query.PlanReport(r, v).RankedStatement(r, query.NameGenerations{Products: 21, Titles: 20, Entities: 22})
	values := url.Values{}
	for name, value := range statement.Params {
		values.Set(name, value)
	}
	if size := len(values.Encode()); size <= 1<<20 {
		t.Fatalf("the statement's parameters have %d bytes, which fit", size)
	}
	if rows, total, err := d.Figures.Ranked(t.Context(), statement, r.Sums(), r.Compared()); err != nil || len(rows) != 0 {
		t.Errorf("the report has %v of %d rows: %v", rows, total, err)
	}
}
