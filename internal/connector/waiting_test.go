package connector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
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

// Reports that waited for rates until the platform had their first days no longer are
// loaded when the rates come, and what is due waits for none of them.
func TestReportsThatWaitedLongAreLoaded(t *testing.T) {
	t.Parallel()
	for name, some := range map[string]bool{"all reports lack rates": false, "the oldest report lacks rates": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults = 0
			oldest := LastEnded(w.profiles[0], w.now) - adlens.Day(lookBack[adlens.SponsoredProducts]) + 1
			if some {
				w.noted.rates, w.lacks = 1, oldest+1
			}
			w.refresh(1 << 30)
			pass := func(days int) {
				w.now = w.now.Add(time.Duration(days) * 24 * time.Hour)
				w.refresh(1 << 30)
			}
			pass(week + 1)
			if some { // of the oldest day alone
				w.wantAllRead()
			}
			w.noted.rates, w.lacks = 2, 0
			if some {
				pass(1)
			} else {
				w.refresh(1 << 30)
			}
			w.wantAllRead()
			if have, ok := w.held[platform.ReportTypes[0].ID][oldest]; !ok {
				t.Errorf("%s is not loaded: %v", oldest, have)
			}
			for _, r := range w.requests {
				if !r.Done {
					t.Errorf("the request of %s from %s to %s is still open", r.ReportType, r.Start, r.End)
				}
			}
		})
	}
}

// killedLoader is a loader whose process is killed as it begins.
type killedLoader struct{ *world }

func (k killedLoader) Load(ctx context.Context, account string, paths []string) (r loader.Result, _ error) {
	if !strings.HasSuffix(paths[0], reportSuffix) {
		return k.world.Load(ctx, account, paths)
	}
	return r, errKilled
}

// What a killed pull leaves on the disk is loaded at the next look, each time.
func TestWhatAKilledPullLeavesIsLoaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	server := w.daily
	for range 3 {
		w.start()
		w.daily.Connector.Loader = killedLoader{w}
		if _, _, err := w.daily.refreshConnection(t.Context(), w.connection); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		w.daily = server
		w.refresh(1 << 30)
		w.wantAllRead()
		w.now = w.now.Add(24 * time.Hour)
	}
}
