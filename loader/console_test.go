package loader_test

import (
	"os"
	"path/filepath"
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
