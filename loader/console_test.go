package loader_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/loader"
)

const consoleHeader = "Date,Currency,Campaign Name,Ad Group Name,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales ,7 Day Total Orders (#)\n"

// consoleRow is a row of a download of the console.
func consoleRow(day, spend string) string {
	return `"Jan ` + day + `, 2026",USD,C,G,B0A,10,1,` + spend + ",0,0\n"
}

// writeConsole writes a download of the console that has a time.
func writeConsole(t testing.TB, path, rows string, at time.Time) string {
	t.Helper()
	writeFile(t, path, consoleHeader+rows)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return path
}

// spend is the millionths of dollars that were spent on the days that are held, in order.
func (d *database) spend(t testing.TB, account string) string {
	t.Helper()
	var days []string
	for _, cells := range d.query(t, account, `SELECT sum(reinterpretAsUInt64(spend)) FROM facts
WHERE account_id = {account:String} AND generation IN `+live+` GROUP BY day ORDER BY day`) {
		days = append(days, cells[0])
	}
	return strings.Join(days, " ")
}

// A copy that was made later is the same download: loaded together with it, it takes no
// days from a report that is newer than the first, wherever the load is cut.
func TestACopyInTheSameLoadTakesNoDaysFromNewerReports(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir := writeBase(t)
	rows := consoleRow("05", "1.00") + consoleRow("06", "2.00")
	first := time.Date(2026, 1, 15, 8, 0, 0, 0, time.UTC)
	writeConsole(t, filepath.Join(dir, "jan.csv"), rows, first)
	copied := writeConsole(t, filepath.Join(dir, "jan copy.csv"), rows, first.AddDate(0, 0, 16))
	reportFile{"newer", profileUS, "2026-01-05", "2026-01-05", "2026-01-20T08:00:00Z", []string{row("2026-01-05", "B0A", "10", "7", "0")}}.write(t, dir)
	for name, commitRows := range map[string]int{"": 0, ", in batches": 1} {
		l := loader.Loader{Store: d.store(), Progress: silent{}, CommitRows: commitRows}
		result, err := l.Load(t.Context(), t.Name()+name, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.spend(t, t.Name()+name); got != "7000000 2000000" {
			t.Errorf("spent%s: %s millionths", name, got)
		}
		for _, f := range result.Files {
			if f.File == copied && !strings.HasSuffix(f.Notice, "generated at 2026-01-15T08:00:00.000Z (the time of another copy of the file)") {
				t.Errorf("of the copy%s is reported: %s %q", name, f.Status, f.Notice)
			}
		}
	}
}

// The time of a workbook stays when a cell is corrected, and that of a file may be kept:
// which of two such downloads counts is reported, in whatever order they come.
func TestDownloadsOfOneTimeAreReported(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir, at := t.TempDir(), time.Date(2026, 1, 15, 8, 0, 0, 0, time.UTC)
	files := []string{writeConsole(t, filepath.Join(dir, "a.csv"), consoleRow("05", "1.00"), at), writeConsole(t, filepath.Join(dir, "b.csv"), consoleRow("05", "2.00")+consoleRow("06", "3.00"), at)}
	hashes := map[string]string{}
	for _, file := range files {
		hashes[file] = fmt.Sprintf("%x", sha256.Sum256([]byte(readText(t, file))))
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(hashes[a], hashes[b]) })
	lesser, greater := files[0], files[1]
	later := writeConsole(t, filepath.Join(dir, "later.csv"), consoleRow("05", "4.00"), at.Add(time.Hour))
	for name, loads := range map[string][][]string{"the winner last": {{lesser}, {greater}}, "the winner first": {{greater}, {lesser}}, "together": {{lesser, greater}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustLoad(t, d.store(), t.Name(), writeBase(t))
			for i, paths := range append(loads, []string{later}) {
				told := ""
				for _, f := range load(t, d.store(), t.Name(), paths...).Files {
					if strings.Contains(f.Notice, "with --generated-at and a later time") {
						told += f.File + map[bool]string{true: " counts", false: " does not"}[strings.Contains(f.Notice, "and this one counts")]
					}
				}
				want := ""
				switch {
				case i == len(loads)-1 && paths[0] == greater:
					want = greater + " counts"
				case i == len(loads)-1:
					want = lesser + " does not"
				}
				if told != want {
					t.Errorf("load %d reports %q, want %q", i+1, told, want)
				}
			}
		})
	}
}

// Of reports of the platform the time decides, and downloads of other days do not compete.
func TestDownloadsOfOneTimeAreReportedWhereTheyShareADay(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir, at := t.TempDir(), time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC)
	mustLoad(t, d.store(), t.Name(), writeBase(t), reportFile{"platform", profileUS, "2026-01-05", "2026-01-05", "2026-02-10T08:00:00Z", nil}.write(t, t.TempDir()))
	february := strings.Replace(consoleRow("01", "1.00"), "Jan", "Feb", 1)
	for _, step := range []struct {
		name, rows string
		told       bool
	}{
		{"a day of the platform's.csv", consoleRow("05", "1.00"), false},
		{"another day.csv", consoleRow("06", "1.00"), false},
		{"the day after.csv", consoleRow("07", "1.00"), false},
		{"another month.csv", february, false},
		{"a day of the second month.csv", consoleRow("31", "1.00") + february, true},
	} {
		f := load(t, d.store(), t.Name(), writeConsole(t, filepath.Join(dir, step.name), step.rows, at)).Files[0]
		if f.Status == loader.Refused || strings.Contains(f.Notice, "another download of the console has some of its days") != step.told {
			t.Errorf("%s: %s %q", step.name, f.Status, f.Notice)
		}
	}
}
