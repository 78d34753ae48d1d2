package demo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/made"
)

var today = time.Date(2026, time.November, 20, 9, 30, 0, 0, time.UTC)

// writeDemo writes a demonstration into a fresh directory.
func writeDemo(t *testing.T, o Options) (string, []string) {
	t.Helper()
	dir := t.TempDir()
	paths, err := Write(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, paths
}

// contents maps names below dir to what the files hold.
func contents(t *testing.T, o Options) map[string][]byte {
	t.Helper()
	dir, paths := writeDemo(t, o)
	out := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// The volume is told; the time is not judged, as machines differ.
func TestThreeYears(t *testing.T) {
	if testing.Short() {
		t.Skip("writes three years")
	}
	begin := time.Now()
	dir, paths := writeDemo(t, Options{Today: today})
	took := time.Since(begin)
	rows, size := 0, 0
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		if strings.HasSuffix(p, ".gz") {
			rows += bytes.Count(unzip(t, b), []byte(`"date":`))
		}
	}
	t.Logf("%d rows in %d files, %.1f MB, written in %v", rows, len(paths), float64(size)/1e6, took.Round(time.Millisecond))
	if rows < 250_000 || rows > 350_000 {
		t.Errorf("%d rows: want years of figures that still load in seconds", rows)
	}
	if !slices.IsSorted(paths) {
		t.Error("the paths are not in name order")
	}
	var found []string
	for _, pattern := range []string{"*.*", ".*", reportsDir + "/*", reportsDir + "/.*", exportsDir + "/*", exportsDir + "/.*"} {
		more, _ := filepath.Glob(filepath.Join(dir, pattern))
		found = append(found, more...)
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, paths) {
		t.Errorf("%d files are there, %d were reported", len(found), len(paths))
	}
}

func TestSameOptionsGiveSameBytes(t *testing.T) {
	t.Parallel()
	a, b := contents(t, Options{Today: today, Years: 1}), contents(t, Options{Today: today, Years: 1})
	if len(a) != len(b) {
		t.Fatalf("%d files, then %d", len(a), len(b))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
	other := contents(t, Options{Today: today, Years: 1, Seed: 7})
	const name = "reports/US-sponsored-products-2026-05.json.gz"
	if bytes.Equal(a[name], other[name]) {
		t.Errorf("%s is the same for another seed", name)
	}
}

// A finished month is a function of the seed and the month: neither a new day,
// nor a new month, nor a longer history changes its files.
func TestHistoryStays(t *testing.T) {
	t.Parallel()
	base := contents(t, Options{Today: today, Years: 1})
	for label, o := range map[string]Options{
		"a day later":   {Today: today.AddDate(0, 0, 1), Years: 1},
		"a month later": {Today: today.AddDate(0, 1, 0), Years: 1},
		"two years":     {Today: today, Years: 2},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && o.Years > 1 {
				t.Skip("writes two years")
			}
			same := 0
			for name, now := range contents(t, o) {
				before, ok := base[name]
				if !ok || strings.Contains(name, "2026-11") || !strings.HasPrefix(name, reportsDir) {
					continue
				}
				same++
				if !bytes.Equal(before, now) {
					t.Errorf("%s changed", name)
				}
			}
			if same < 100 {
				t.Errorf("only %d files could be compared", same)
			}
		})
	}
}

// The unfinished month keeps its days too, when it grows by one.
func TestUnfinishedMonthOnlyGrows(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2026, time.November, 1), adlens.Date(2026, time.November, 20)}
	a := newAccount(1, s)
	for _, c := range a.channels {
		short := rowsOf(t, extract{channel: c, span: span{s.first, s.last - 1}})
		long := rowsOf(t, extract{channel: c, span: s})
		if !bytes.HasPrefix(long, bytes.TrimSuffix(short, []byte("]"))) || len(long) == len(short) {
			t.Errorf("%s %s: a day more changed the days before", c.market.country, c.adProductSlug())
		}
	}
}

func rowsOf(t *testing.T, e extract) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.writeDownload(new(made.Rows), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for label, o := range map[string]Options{
		"no day":         {},
		"negative years": {Today: today, Years: -1},
		"too many years": {Today: today, Years: mostYears + 1},
		"no rates":       {Today: time.Date(2001, time.December, 31, 0, 0, 0, 0, time.UTC), Years: 1},
		"long ago":       {Today: time.Date(2002, time.May, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if paths, err := Write(t.TempDir(), o); err == nil || paths != nil {
			t.Errorf("%s: got %d paths and error %v", label, len(paths), err)
		}
	}
}

// Whichever worker wrote it, a path has its place, and each extract is heard of.
func TestJobsAreToldInOrder(t *testing.T) {
	t.Parallel()
	var jobs []job
	var want, heard []int
	for i := range 40 {
		jobs = append(jobs, func(*made.Writer) ([]string, error) { return singlePath(fmt.Sprintf("%02d", len(jobs)-1-i), nil) })
		want = append(want, i+1)
	}
	paths, err := runJobs(t.TempDir(), jobs, func(done, total int) {
		if total != len(jobs) {
			t.Errorf("there are %d jobs in all, expected %d", total, len(jobs))
		}
		heard = append(heard, done)
	})
	if err != nil || len(paths) != len(jobs) || !slices.IsSorted(paths) {
		t.Errorf("the paths are %v, error %v", paths, err)
	}
	if !slices.Equal(heard, want) {
		t.Errorf("the jobs that were done are %v", heard)
	}
}

func TestWriteTellsFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A directory stands where a file has to go.
	if err := os.MkdirAll(filepath.Join(dir, "rates.csv", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if paths, err := Write(dir, Options{Today: today, Years: 1}); err == nil || paths != nil {
		t.Errorf("got %d paths and error %v", len(paths), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}
