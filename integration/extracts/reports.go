package extracts

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adlens"
	"adlens/internal/made"
)

// description is what a report object says about its download.
type description struct {
	id, kind   string
	profile    profile
	start, end time.Time
	generated  time.Time
	first      int // of its ad groups
	names      int // which of their names campaigns and ad groups have
}

var kinds = map[string]struct {
	adProduct adlens.AdProduct
	asin      string
}{
	"spAdvertisedProduct": {adlens.SponsoredProducts, "advertisedAsin"},
	"sbCampaigns":         {adlens.SponsoredBrands, ""},
	"sdAdvertisedProduct": {adlens.SponsoredDisplay, "promotedAsin"},
}

// Products come twice, so that half of the reports are theirs.
var kindNames = []string{"spAdvertisedProduct", "sbCampaigns", "sdAdvertisedProduct", "spAdvertisedProduct"}

// writeReport writes report number n. Once in a while it repeats an earlier
// one to the byte under another name, or writes one of the console.
func (w *writer) writeReport(dir string, n int) (Report, error) {
	if n > 3 && w.percentChance(5) {
		return w.repeatReport(dir, n)
	}
	if !w.PlatformOnly && w.percentChance(6) {
		return w.writeConsoleReport(dir, n)
	}
	d := w.describeReport()
	w.last = append(w.last, d)
	stem := fmt.Sprintf("%s%s-%03d", pickOne(w, []string{"", "M\u00e4rz ", "a.b-"}), d.kind, n)
	return w.writePair(dir, stem, made.ReportEnd, w.reportRows(d), func(size int) string { return w.reportObject(d, size) })
}

// writePair writes an object and its download, compressed or not.
func (w *writer) writePair(dir, stem, end string, rows []string, object func(size int) string) (Report, error) {
	to := made.NewWriter(dir)
	to.Plain = w.percentChance(30)
	return to.WritePair(stem, end, func(download io.Writer) error {
		_, err := io.WriteString(download, "["+strings.Join(rows, ",\n")+"]")
		return err
	}, func(size int) any { return json.RawMessage(object(size)) })
}

func (w *writer) repeatReport(dir string, n int) (Report, error) {
	objects, err := filepath.Glob(filepath.Join(dir, "*.report.json"))
	if err != nil {
		return Report{}, err
	}
	from := strings.TrimSuffix(pickOne(w, objects), ".report.json")
	to := filepath.Join(dir, fmt.Sprintf("again-%03d", n))
	report := Report{Object: to + ".report.json"}
	for _, suffix := range []string{".report.json", ".json", ".json.gz"} {
		content, err := os.ReadFile(from + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o644)
		}
		if err != nil {
			return report, err
		}
		if suffix != ".report.json" {
			report.Download = to + suffix
		}
	}
	return report, nil
}

// describeReport chooses slice, range and time: often near an earlier report's, so
// that reports overlap, restate or come from before what is held.
func (w *writer) describeReport() description {
	d := description{id: w.drawUUID(), kind: pickOne(w, kindNames), profile: pickOne(w, w.profiles), first: w.IntN(adGroups), names: w.IntN(4)}
	length := 1 + w.IntN(31)
	// One day ahead of UTC is allowed: zones east of it are there already.
	d.end = w.today.AddDate(0, 0, 1-w.IntN(w.recentDays()))
	if len(w.last) > 0 && w.percentChance(55) {
		earlier := pickOne(w, w.last)
		d.kind, d.profile = earlier.kind, earlier.profile
		d.end = earlier.end.AddDate(0, 0, w.IntN(15)-7)
	}
	d.end = clampTime(d.end, w.today.AddDate(0, 0, 31-w.Days), w.today.AddDate(0, 0, 1))
	d.start = d.end.AddDate(0, 0, 1-length)
	d.generated = w.generationTime(d)
	return d
}

// clampTime keeps restatements of restatements from drifting out of the rates.
func clampTime(t, earliest, latest time.Time) time.Time {
	if t.Before(earliest) {
		return earliest
	}
	if t.After(latest) {
		return latest
	}
	return t
}

// recentDays makes most reports speak of the last three months.
func (w *writer) recentDays() int {
	if w.percentChance(75) {
		return min(95, w.Days-31)
	}
	return w.Days - 31
}

// generationTime is a time after the range's last day began somewhere, not in the
// future, and sometimes exactly that of an earlier report of the same slice.
func (w *writer) generationTime(d description) time.Time {
	own := w.fork() // now decides how much is drawn
	for _, earlier := range w.last {
		same := earlier.kind == d.kind && earlier.profile == d.profile
		if same && !earlier.generated.Before(d.end) && own.percentChance(20) {
			return earlier.generated
		}
	}
	t := d.end.Add(time.Duration(own.Int64N(int64(40 * 24 * time.Hour))))
	if t.After(w.Now) {
		// Between the day before the last one and now, whichever is later.
		floor := d.end.AddDate(0, 0, -1)
		t = floor.Add(time.Duration(own.Int64N(int64(w.Now.Sub(floor)) + 1)))
	}
	return t.Truncate(time.Millisecond)
}

func (w *writer) drawUUID() string { return made.UUID(w.Uint64(), w.Uint64()) }

func (w *writer) reportObject(d description, size int) string {
	t := made.ReportTypeOf(kinds[d.kind].adProduct)
	o := made.NewReport(d.id, t, w.askedColumns(d), adlens.DayOf(d.start), adlens.DayOf(d.end), d.generated.Add(-time.Hour), d.generated)
	o.ProfileID, o.Name, o.FileSize = json.Number(d.profile.id), "r "+d.id, size
	if w.percentChance(50) {
		o.Configuration.Filters = []string{}
	}
	return w.varyObject(o)
}
