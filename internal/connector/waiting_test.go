package connector

import (
	"testing"
	"time"

	"adlens"
	"adlens/loader"
)

func TestDaysWithoutRatesAreWrittenInOrder(t *testing.T) {
	waits := func(currency string, days ...adlens.Day) loader.FileResult {
		return loader.FileResult{Status: loader.Waiting, MissingRates: &loader.MissingRates{Currency: currency, Days: days}}
	}
	first := adlens.Date(2026, time.January, 30)
	for want, files := range map[string][]loader.FileResult{
		"":                  {{Status: loader.Loaded}, {Status: loader.Refused, MissingRates: &loader.MissingRates{Currency: "CAD", Days: []adlens.Day{first}}}},
		"CAD on 2026-01-30": {waits("CAD", first)},
		"CAD on 2026-01-30 to 2026-02-02, 2026-02-04; GBP on 2026-01-31":      {waits("GBP", first+1), waits("CAD", first+2, first+3, first+5), waits("CAD", first, first+1, first+2)},
		"EUR on 2026-01-30, 2026-02-01, 2026-02-03 to 2026-02-04, 2026-02-06": {waits("EUR", first, first+2, first+4, first+5, first+7)},
	} {
		if n, got := MissingRates(loader.Result{Files: files}); got != want || (n == 0) != (want == "") {
			t.Errorf("%d reports lack %q, want %q", n, got, want)
		}
	}
}

func TestWaitingReportsOfAllConnectionsAreCounted(t *testing.T) {
	d := &Daily{looks: map[string]look{"one/NA": {waiting: 2}, "one/EU": {}, "two/NA": {waiting: 1}}}
	if n := d.Waiting(); n != 3 {
		t.Errorf("%d reports wait, want 3", n)
	}
}
