package loader

import (
	"os"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/console"
)

func TestReportsOfTheConsoleAreKnownByTheEndingOfTheirNames(t *testing.T) {
	for name, want := range map[string][2]bool{
		"a.csv": {true, false}, "A.CSV": {true, false}, "a.xlsx": {true, true}, "A.XLSX": {true, true}, "a.xlsx.csv": {true, false}, "a.xls": {false, false}, "csv": {false, false}, "a.csv.gz": {false, false},
	} {
		if got := [2]bool{isConsoleName(name), isWorkbookName(name)}; got != want {
			t.Errorf("%s: %v, expected %v", name, got, want)
		}
	}
}

// The user's word goes before that of the workbook, and that before the time of the file,
// which a copy or a program that saves it changes.
func TestTheTimeOfAReportOfTheConsoleIsTheSurestThatIsThere(t *testing.T) {
	said, inside, modified := time.Date(2026, 1, 3, 9, 0, 0, 0, time.FixedZone("", 3600)), time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC), time.Date(2026, 1, 4, 8, 0, 0, 999_999, time.UTC)
	for _, test := range []struct {
		said, inside time.Time
		want, by     string
	}{
		{said, inside, "2026-01-03T08:00:00.000Z", "--generated-at"},
		{said, time.Time{}, "2026-01-03T08:00:00.000Z", "--generated-at"},
		{time.Time{}, inside, "2026-01-02T08:00:00.000Z", "the workbook says so"},
		{time.Time{}, time.Time{}, "2026-01-04T08:00:00.000Z", "the time of the file"},
	} {
		c := &consoleReport{file: &console.File{CreatedAt: test.inside}}
		at := c.generatedAt(test.said, modified)
		if adlens.FormatTime(at) != test.want || c.timeBy != test.by || c.said != (test.by == "--generated-at") || at.Nanosecond() != 0 || at.Location() != time.UTC {
			t.Errorf("%s by %s (%v), expected %s by %s", at, c.timeBy, c.said, test.want, test.by)
		}
	}
}

// Where the day has begun that a marketplace's zone ends later, or begins earlier, its
// rows may be of one day after the time in UTC, but of no more.
func TestRowsOfADownloadAreAtMostOfTheDayAfterItsTime(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		at    time.Time
		after adlens.Day // the last day of the rows, from that of at
		want  string
	}{
		{now.AddDate(0, 0, -5), 0, ""},
		{now.AddDate(0, 0, -5), 1, ""},
		{now.AddDate(0, 0, -5), 2, "the last day of its rows is "},
		{now.Add(23 * time.Hour), 0, ""},
		{now.Add(25 * time.Hour), 0, "it was generated at "},
	} {
		r := &platform.Report{Type: platform.ReportTypes[0], Columns: platform.ReportTypes[0].Headline(false), End: adlens.DayOf(test.at) + test.after, GeneratedAt: test.at}
		err := pending{report: r, console: &consoleReport{}}.checkConsole()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want) || !isRefusal(err)) {
			t.Errorf("rows until %d days after %s: %v, expected %q", test.after, test.at, err, test.want)
		}
	}
}

// Days, columns and a hash are of what was read first; a file that is another one by the
// time that its rows are read is refused, also where it has the same size.
func TestADownloadThatIsReplacedBeforeItsRowsAreReadIsRefused(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const text = "Date,Currency,Campaign Name,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales,7 Day Total Orders (#)\n2026-01-05,USD,C,B0A,1,1,1,1,1\n"
	write := func(text string) {
		if err := root.WriteFile("x.csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	s := &session{markets: []Marketplace{{Profile: platform.Profile{ID: "1", Country: "US", Currency: "USD"}}}, generatedAt: time.Now()}
	p, err := s.decodeConsole(t.Context(), file{kind: kindConsole, root: root, name: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	d := &download{pending: p}
	_, closeFile, err := d.openConsole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := closeFile(); err != nil || sum != p.console.sum || p.report.ID != "console-sha256:"+sum {
		t.Errorf("the report %s was read as %s: %v", p.report.ID, sum, err)
	}
	write(strings.Replace(text, "2026-01-05", "2026-01-06", 1))
	if _, _, err := d.openConsole(t.Context()); err == nil || !strings.Contains(err.Error(), "it changed while it was read") {
		t.Errorf("another file is read as the same: %v", err)
	}
}
