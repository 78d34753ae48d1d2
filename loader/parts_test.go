package loader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

// manyRows are rows of several days and products, two for most keys.
func manyRows() []string {
	var rows []string
	for i := range 60 {
		rows = append(rows, row(fmt.Sprintf("2026-01-%02d", 5+i*7%6), fmt.Sprintf("B0%d", i%5), fmt.Sprint(i), fmt.Sprintf("%d.%02d", i, i), "0.1"))
	}
	return rows
}

func TestAReportThatDoesNotFitIntoMemoryIsStoredLikeOneThatDoes(t *testing.T) {
	d := openShared(t)
	base := writeBase(t, fixtureRates...)
	report := reportFile{"parts", profileDE, "2026-01-05", "2026-01-12", "2026-01-12T04:00:00Z", manyRows()}.write(t, t.TempDir())
	mustLoad(t, d.store(), t.Name(), base, report)
	want := d.visible(t, t.Name())
	for _, budget := range []int{0, 1500, 3000} {
		undo := loader.SetGrainBudget(budget)
		account := fmt.Sprint(t.Name(), budget)
		mustLoad(t, d.store(), account, base, report)
		undo()
		if diff := cmp.Diff(want, d.visible(t, account)); diff != "" {
			t.Errorf("with %d bytes for sums, other facts are stored:\n%s", budget, diff)
		}
	}
}

// meddling puts another file into the place of a long one while the loader
// checks it, as it opens it again to store it.
type meddling struct {
	silent
	change func()
}

func (m meddling) Rows(n int) {
	if n == 10_000 {
		m.change()
	}
}

// One of its days may be in the load already when that is seen. What was refused before
// is not read again by the load that begins without it.
func TestAFileThatChangesBetweenItsReadingsIsRefusedAndTheOthersAreLoaded(t *testing.T) {
	d := openShared(t)
	dir := t.TempDir()
	mustLoad(t, d.store(), t.Name(), writeBase(t, fixtureRates...))
	long := slices.Repeat(manyRows(), 170)
	reportFile{"changing", profileUS, "2026-01-05", "2026-01-12", "2026-01-12T04:00:00Z", long}.write(t, dir)
	reportFile{"other", profileDE, "2026-01-05", "2026-01-12", "2026-01-12T04:00:00Z", []string{row("2026-01-06", "B0Z", "3", "1", "2")}}.write(t, dir)
	undo := loader.SetGrainBudget(1500)
	defer undo()
	other := filepath.Join(t.TempDir(), "other.json")
	writeFile(t, other, "[]")
	change := func() {
		if err := os.Rename(other, filepath.Join(dir, "changing.json")); err != nil {
			t.Error(err)
		}
	}
	broken := reportFile{"broken", profileUS, "2026-01-05", "2026-01-12", "2026-01-13T04:00:00Z", []string{row("2026-01-06", "B0Z", "-3", "1", "2")}}.write(t, t.TempDir())
	l := loader.Loader{Store: d.store(), Progress: meddling{change: change}}
	result, err := l.Load(t.Context(), t.Name(), []string{dir, broken})
	if err != nil || len(result.Files) != 3 || result.Refused() != 2 {
		t.Errorf("the load has the results %+v, %v; expected one of each file", result.Files, err)
	}
	for _, f := range result.Files {
		switch filepath.Base(f.File) {
		case "changing.report.json":
			if f.Status != loader.Refused || !strings.Contains(*f.Error, "changed while it was read") {
				t.Errorf("the file that changed is %s: %v", f.Status, f.Error)
			}
		case "other.report.json":
			if f.Status != loader.Loaded {
				t.Errorf("the other file is %s", f.Status)
			}
		}
	}
	for _, f := range d.stateOf(t, t.Name()).facts(t) {
		if f.product != "B0Z" {
			t.Errorf("of the file that changed, %s can be seen", f.text)
		}
	}
	mustLoad(t, d.store(), t.Name(), dir)
}

func TestSumsBeyondAColumnAreKeptExactly(t *testing.T) {
	d, o := openShared(t), newOracle()
	var rows []string
	for range 5 {
		rows = append(rows, row("2026-01-05", "B0A", "9223372036854775807", "0.00000000000000000001", "0"))
	}
	for range 10 {
		rows = append(rows, row("2026-01-06", "B0A", "1", "999999999999.99", "999999999999.99"))
	}
	base, dir := writeBase(t, "2026-01-05,EUR,3.25"), t.TempDir()
	report := reportFile{"wide", profileDE, "2026-01-05", "2026-01-07", "2026-01-12T04:00:00Z", rows}.write(t, dir)
	o.addBase(t, base)
	o.addReport(t, report, filepath.Join(dir, "wide.json"))
	mustLoad(t, d.store(), t.Name(), base, report)
	o.equal(t, d, t.Name())
	counts := d.query(t, t.Name(), "SELECT day, count() FROM facts WHERE account_id = {account:String} AND generation IN "+live+" GROUP BY day ORDER BY day")
	// 5 times the largest count, and 32.5 times what Decimal(18, 6) holds.
	if want := [][]string{{"2026-01-05", "5"}, {"2026-01-06", "33"}}; !cmp.Equal(want, counts) {
		t.Errorf("rows by day are %v, expected %v", counts, want)
	}
	for _, rate := range []string{"0.123456789", "987.654321", "3.25"} {
		again := t.TempDir()
		mustLoad(t, d.store(), t.Name(), writeRates(t, again, "2026-01-05,EUR,"+rate))
		o.addRates(t, again)
		o.equal(t, d, t.Name())
	}
}

// BenchmarkReport reads and sums a report of 50 MB, as loading it does, up to
// the store.
func BenchmarkReport(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "big.json")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for i := 0; size < 50<<20; i++ {
		separator := ",\n"
		if i == 0 {
			separator = "["
		}
		n, err := f.WriteString(separator + row(fmt.Sprintf("2026-01-%02d", 1+i%30), fmt.Sprintf("B0%08d", i%5000), fmt.Sprint(i%9999), "12.34", "45.6"))
		if err != nil {
			b.Fatal(err)
		}
		size += n
	}
	if _, err := f.WriteString("]"); err != nil || f.Close() != nil {
		b.Fatal(err)
	}
	reportFile{"object", profileUS, "2026-01-01", "2026-01-31", "2026-02-01T04:00:00Z", nil}.write(b, dir)
	b.SetBytes(int64(size))
	for b.Loop() {
		grains, err := loader.ReadReport(dir, "object.report.json", "big.json")
		if err != nil || grains == 0 {
			b.Fatal(grains, err)
		}
	}
}
