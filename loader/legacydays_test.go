package loader_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
)

// countsLegacy reports whether a day is held of what counts of legacy reports of the US
// profile.
func (d *database) countsLegacy(t testing.TB, account, day string) bool {
	t.Helper()
	m, err := d.db.Tables.Manifest(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	at, err := adlens.ParseDay(day)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(m.Of(manifest.Month), func(e manifest.Entry) bool {
		return e.Slice.AdProduct == manifest.LegacyCounted && e.Start == at.FirstOfMonth() && e.Held()&manifest.DaysBetween(at, at) != 0
	})
}

// Days of a v3 report that are written again in the load that brings them leave rows that
// were never visible: they are noted as dead, so that they are deleted.
func TestDaysThatAreWrittenTwiceInALoadLeaveNoRowsBehind(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	const day = "2026-01-30"
	mustLoad(t, d.store(), t.Name(), writeBase(t, day+",EUR,1.000001"), brandsList{"l", profileDE, at, map[string]string{"2": "false"}}.write(t, t.TempDir()))
	v3 := brandsReport{id: "n", profile: profileDE, start: day, end: day, generated: at, rows: []brandsRow{{day, "1", "1", "0.6"}}}
	legacy := brandsReport{id: "o", profile: profileDE, start: day, legacy: true, generated: at, rows: []brandsRow{{"", "2", "1", "0.8"}}}
	mustLoad(t, d.store(), t.Name(), legacy.write(t, t.TempDir()))
	mustLoad(t, d.store(), t.Name(), v3.write(t, t.TempDir())) // its dollars are rounded with those of the legacy report
	got := d.query(t, t.Name(), `SELECT count() > 0, countIf(generation NOT IN (SELECT generation FROM dead_generations WHERE account_id = {account:String} AND table_name = 'facts'))
FROM facts WHERE account_id = {account:String} AND generation NOT IN `+live)[0]
	if strings.Join(got, " ") != "1 0" {
		t.Errorf("whether there are dead facts, and how many are not noted: %v", got)
	}
}
