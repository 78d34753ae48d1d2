package loader_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

// A user who left columns out of a report's object corrects it. Which of the objects
// is loaded first, or whether both are in one folder, makes no difference.
func TestAReportsFullestObjectSpeaksForItInAnyOrder(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	base := writeBase(t, fixtureRates...)
	rows := []string{row("2026-01-06", "B01", "100", "1.50", "12"), row("2026-02-02", "B02", "7", "0.10", "3")}
	var paths []string
	for _, missing := range []string{`,"unitsSoldClicks7d"`, `,"sales30d"`, ``} {
		path := reportFile{"corrected", profileUS, "2026-01-05", "2026-02-03", "2026-02-03T04:00:00Z", rows}.write(t, t.TempDir())
		object, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(object), missing) {
			t.Fatal(string(object), err)
		}
		writeFile(t, path, strings.Replace(string(object), missing, "", 1))
		paths = append(paths, path)
	}
	noUnits, noSales, full := paths[0], paths[1], paths[2]
	for set, orders := range [][][]string{{{noUnits, noSales}, {noSales, noUnits}}, {{full, noUnits}, {noUnits, full}}} {
		want := ""
		for n, order := range append(orders, nil) {
			account := fmt.Sprint(t.Name(), set, n)
			mustLoad(t, d.store(), account, base)
			for _, path := range order {
				mustLoad(t, d.store(), account, path)
			}
			if order == nil {
				mustLoad(t, d.store(), account, orders[0]...)
			}
			got := d.visible(t, account)
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("in the order %v:\n%s", order, diff)
			}
		}
	}
	account := t.Name() + "statuses"
	mustLoad(t, d.store(), account, base)
	for i, path := range []string{noUnits, full, noUnits, full} {
		if got, want := load(t, d.store(), account, path).Files[0].Status, []loader.Status{loader.Loaded, loader.Loaded, loader.Unchanged, loader.Unchanged}[i]; got != want {
			t.Errorf("load %d is reported to be %s, expected %s", i, got, want)
		}
	}
}
