package loader_test

import (
	"path/filepath"
	"testing"

	"adlens/loader"
)

func TestARateServesForSevenDaysAndNoLonger(t *testing.T) {
	d, o := openShared(t), newOracle()
	base, dir, late := writeBase(t, "2026-01-05,EUR,1.25"), t.TempDir(), t.TempDir()
	good := reportFile{"reached", profileDE, "2026-01-05", "2026-01-14", "2026-01-14T04:00:00Z", []string{row("2026-01-12", "B0A", "1", "3.33", "4")}}
	bad := reportFile{"beyond", profileDE, "2026-01-13", "2026-01-13", "2026-01-15T04:00:00Z", []string{row("2026-01-13", "B0A", "1", "3.33", "4")}}
	before := reportFile{"before", profileDE, "2026-01-04", "2026-01-04", "2026-01-15T04:00:00Z", []string{row("2026-01-04", "B0A", "1", "3.33", "4")}}
	good.write(t, dir)
	bad.write(t, dir)
	before.write(t, dir)
	mustLoad(t, d.store(), t.Name(), base)
	o.addBase(t, base)
	o.addReport(t, filepath.Join(dir, "reached.report.json"), filepath.Join(dir, "reached.json"))
	for _, f := range load(t, d.store(), t.Name(), dir).Files {
		want := map[string]string{
			"beyond.report.json": "no rate for EUR on 2026-01-13: expected one in rates.csv or a file of the European Central Bank for that day or one of the 7 before it",
			"before.report.json": "no rate for EUR on 2026-01-04: expected one in rates.csv or a file of the European Central Bank for that day or one of the 7 before it",
		}[filepath.Base(f.File)]
		switch {
		case want == "" && f.Status != loader.Loaded:
			t.Errorf("%s is %s", f.File, f.Status)
		case want != "" && (f.Status != loader.Refused || *f.Error != want):
			t.Errorf("%s is %s: %v, expected: %s", f.File, f.Status, f.Error, want)
		}
	}
	o.equal(t, d, t.Name())
	// Once its rate is there, the refused report is good.
	writeRates(t, late, "2026-01-13,EUR,1.5")
	mustLoad(t, d.store(), t.Name(), late, filepath.Join(dir, "beyond.report.json"))
	o.addRates(t, late)
	o.addReport(t, filepath.Join(dir, "beyond.report.json"), filepath.Join(dir, "beyond.json"))
	o.equal(t, d, t.Name())
}
