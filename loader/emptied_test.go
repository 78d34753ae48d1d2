package loader_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"adlens/loader"
)

// A report without rows replaces its days as any other: where figures were held of them,
// a notice says so, since nothing else would show it. Of days that had none it says
// nothing.
func TestAReportWithoutRowsSaysWhatItTakesAway(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	one := func(day string) []string { return []string{row("2026-01-"+day, "A", "1", "1.00", "2.00")} }
	gone := func(days string) string {
		return "it has no rows: the figures that were held of " + days + ", or of some of them, are gone; if the platform has these, load a newer report"
	}
	for i, step := range []struct {
		reports []reportFile // of one load
		says    []string     // of each
	}{
		{[]reportFile{{start: "2026-01-01", end: "2026-01-20"}}, []string{""}},
		{[]reportFile{{start: "2026-01-05", end: "2026-01-12", rows: one("06")}}, []string{""}},
		{[]reportFile{{start: "2026-01-07", end: "2026-01-31"}}, []string{""}}, // which had none
		{[]reportFile{{start: "2026-01-06", end: "2026-01-06"}}, []string{gone("1 day")}},
		{[]reportFile{{start: "2026-01-05", end: "2026-01-12", rows: one("06")}}, []string{""}},
		{[]reportFile{{start: "2025-12-25", end: "2026-01-31"}}, []string{gone("31 days")}},
		{[]reportFile{{start: "2026-01-05", end: "2026-01-12", rows: one("06")}}, []string{""}},
		{[]reportFile{{start: "2026-01-05", end: "2026-01-06"}, {start: "2026-01-07", end: "2026-01-09", rows: one("07")}}, []string{"", ""}},
		{[]reportFile{{start: "2026-01-05", end: "2026-01-06"}, {start: "2026-01-07", end: "2026-01-09"}}, []string{gone("5 days"), ""}},
	} {
		dir := t.TempDir()
		for j, r := range step.reports {
			r.id, r.profile, r.generated = fmt.Sprintf("%d-%d", i, j), profileUS, fmt.Sprintf("2026-02-%02dT12:00:00Z", i+1)
			r.write(t, dir)
		}
		for j, f := range load(t, d.store(), t.Name(), dir).Files {
			if f.Status != loader.Loaded || f.Notice != step.says[j] {
				t.Errorf("step %d: %s is %s with %q, want %q", i, filepath.Base(f.File), f.Status, f.Notice, step.says[j])
			}
		}
	}
}

// Figures of days between others that no report covers look like days without ads.
func TestALoadNamesTheDaysBetweenOthersThatItLeavesOut(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	report := func(start, end string) string {
		return brandsReport{id: start, profile: profileUS, start: start, end: end, generated: at, rows: []brandsRow{{start, "7", "2", "1"}}}.write(t, t.TempDir())
	}
	const left = "days between others that no report covers count as nothing: %s of US %s SPONSORED_BRANDS. Load reports of them, without rows where there were no ads"
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	for _, step := range []struct {
		files []string
		hole  string
	}{
		{[]string{report("2026-01-10", "2026-01-11")}, ""},
		{[]string{report("2026-01-20", "2026-01-21")}, "2026-01-12 to 2026-01-19"},
		{[]string{report("2026-01-14", "2026-01-14")}, ""}, // it was named before
		{[]string{report("2026-01-24", "2026-01-24"), report("2026-01-22", "2026-01-23")}, ""},
		{[]string{report("2026-01-08", "2026-01-08")}, "2026-01-09"},
	} {
		h := &heard{}
		l := loader.Loader{Store: d.store(), Progress: h, Whole: true}
		if _, err := l.Load(t.Context(), t.Name(), step.files); err != nil {
			t.Fatal(err)
		}
		var want []string
		if step.hole != "" {
			want = []string{fmt.Sprintf(left, step.hole, profileUS)}
		}
		if !slices.Equal(h.notices, want) {
			t.Errorf("%v: said is %q, expected %q", step.files, h.notices, want)
		}
	}
}
