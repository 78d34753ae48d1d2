package backup_test

import (
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// loadDay loads a report of one day into the account acme.
func loadDay(t *testing.T, p *harness.Program, of string) {
	t.Helper()
	dir := t.TempDir()
	house.SpPair("day-"+of, "701", of, 1, time.Now()).Write(t, dir)
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
}

// Loads after an older copy of a data directory was put back have the numbers of those that
// were lost, which older backups alone have then.
func TestABackupOfAnOlderCopyThatWasLoadedOnSaysSo(t *testing.T) {
	t.Parallel()
	p, dir := newShop(t)
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	loadDay(t, p, house.DaysAgo(12))
	house.Need(t, p.StopEngine())
	older := house.CopyOf(t, p)
	loadDay(t, p, house.DaysAgo(11))
	loadDay(t, p, house.DaysAgo(10))
	place := house.Copied{Program: p, Place: t.TempDir()}
	place.Backup(t)
	house.Need(t, p.StopEngine())

	loadDay(t, older, house.DaysAgo(9))
	loadDay(t, older, house.DaysAgo(8))
	place.Program = older
	r := older.Run("backup", "--to", place.Place, "--keep", "1")
	house.MustRefuse(t, "a backup of another history", r, "account acme", "the last backup has loads that the database lacks", "revoke, cancel and remove again")
	if all := place.Listed(t); len(all) != 2 {
		t.Errorf("there are the backups %v, want both", all)
	}
	loadDay(t, older, house.DaysAgo(7))
	place.Backup(t, "--keep", "2")
}

// A restore in place says of when the figures are, and what to load again.
func TestARestoreInPlaceNamesTheReportsThatWereLoadedSince(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p, dir := newShop(t)
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	first, last := house.DaysAgo(11), house.DaysAgo(9)
	loadDay(t, p, house.DaysAgo(12))
	place := house.Copied{Program: p, Place: t.TempDir()}
	place.Backup(t)
	loadDay(t, p, first)
	loadDay(t, p, last)
	house.AsWriter(t, p, "ALTER TABLE day_totals DELETE WHERE day = (SELECT max(day) FROM day_totals)")
	r := p.Run("restore", "--from", place.Place, "--account", "acme")
	for _, want := range []string{
		"its figures, lists and records are as of ",
		"2 reports of " + first + " to " + last + " were loaded since: load them again: /",
		"day-" + first, "day-" + last,
	} {
		if r.Code != 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("the restore does not say %q: %s", want, r)
		}
	}
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Errorf("load: %v %s", err, l.Result)
	}
}
