package loader_test

import (
	"fmt"
	"path/filepath"
	"testing"

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
