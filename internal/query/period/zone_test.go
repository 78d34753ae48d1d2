package period

import (
	"archive/zip"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestZonesAndLinksAreFoundUnderTheirOwnNames(t *testing.T) {
	for _, name := range []string{
		"UTC", "Etc/UTC", "GMT", "GMT+0", "GMT0", "Zulu", "GB", "US/Pacific", "EST5EDT",
		"America/New_York", "America/Argentina/ComodRivadavia", "America/Port-au-Prince",
		"Asia/Kathmandu", "Asia/Katmandu", "Etc/GMT+12", "Europe/Kyiv", "Europe/Kiev",
	} {
		zone, err := Zone(name)
		if err != nil || zone.String() != name {
			t.Errorf("%s: got %v, %v", name, zone, err)
		}
	}
}

var noZones = []string{
	"", " ", "Local", "local", "Factory", "utc", "Utc", "UTC ", " UTC", "america/new_york", "America/new_york",
	"posix/UTC", "right/UTC", "posixrules", "localtime", "America", "America/", "/America/New_York", "./UTC",
	"America//New_York", "America/../UTC", "../../etc/passwd", "/etc/localtime", "America\\New_York",
	"UTC\x00", "UTC\n", "EST5EDT4", "+02:00", "UTC+2", "GMT+1", "zone.tab", "tzdata.zi", "\xff", strings.Repeat("A/", 5000),
}

func TestWhatIsNoExactZoneNameIsRefused(t *testing.T) {
	for _, name := range noZones {
		zone, err := Zone(name)
		var refused *ZoneError
		if zone != nil || !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%q: got %v, %v", name, zone, err)
		}
	}
}

func TestTheSystemsZonesAreNeverAsked(t *testing.T) {
	t.Setenv("ZONEINFO", "testdata/none")
	t.Setenv("TZ", "Asia/Tokyo")
	if _, err := Zone("America/Nowhere"); err == nil {
		t.Error("a zone from nowhere")
	}
	if zone, err := Zone("Europe/Berlin"); err != nil || zone.String() != "Europe/Berlin" {
		t.Errorf("got %v, %v", zone, err)
	}
}

func TestWhatOtherCopiesOfTheDatabaseHoldBesideZonesIsLeftOut(t *testing.T) {
	for _, name := range []string{"Factory", "Local", "localtime", "posixrules", "posix/Europe/Berlin", "right/UTC", "Europe/"} {
		if isZoneName(name) {
			t.Errorf("%s would be a zone", name)
		}
	}
}

func TestEveryListedZoneCanBeHadAndIsParsedOnce(t *testing.T) {
	names := ZoneNames()
	if !slices.IsSorted(names) || len(names) < 590 {
		t.Fatalf("%d names, sorted: %t", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		first, err := Zone(name)
		if err != nil || first.String() != name {
			t.Fatalf("%s: got %v, %v", name, first, err)
		}
		if again, _ := Zone(name); again != first {
			t.Errorf("%s was parsed twice", name)
		}
	}
}

func TestTheDatabaseHasTheNamesOfTheToolchains(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no Go toolchain here")
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib/time/zoneinfo.zip"))
	if err != nil {
		t.Skip("the toolchain has no time-zone database")
	}
	defer archive.Close()
	var want []string
	for _, file := range archive.File {
		if file.Name != "Factory" {
			want = append(want, file.Name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, ZoneNames()); diff != "" {
		t.Errorf("copy the toolchain's zoneinfo.zip again (-toolchain +embedded):\n%s", diff)
	}
}

func TestTheZoneDecidesWhichDayTodayIs(t *testing.T) {
	for _, c := range []struct{ zone, now, want string }{
		{"UTC", "2021-05-05T12:30:00Z", "2021-05-05"},
		{"America/New_York", "2024-01-02T02:00:00Z", "2024-01-01"},
		{"Asia/Tokyo", "2024-01-01T16:00:00Z", "2024-01-02"},
		// The ends of the world: at one instant, three days.
		{"Pacific/Kiritimati", "2026-03-01T10:30:00Z", "2026-03-02"},
		{"UTC", "2026-03-01T10:30:00Z", "2026-03-01"},
		{"Pacific/Pago_Pago", "2026-03-01T10:30:00Z", "2026-02-28"},
		{"Pacific/Kiritimati", "2025-12-31T09:59:59Z", "2025-12-31"},
		{"Pacific/Kiritimati", "2025-12-31T10:00:00Z", "2026-01-01"},
		// An offset of five hours and three quarters.
		{"Asia/Kathmandu", "2024-02-28T18:14:59Z", "2024-02-28"},
		{"Asia/Kathmandu", "2024-02-28T18:15:00Z", "2024-02-29"},
		// New York's days of 23 and 25 hours.
		{"America/New_York", "2024-03-10T04:59:59Z", "2024-03-09"},
		{"America/New_York", "2024-03-10T05:00:00Z", "2024-03-10"},
		{"America/New_York", "2024-03-11T03:59:59Z", "2024-03-10"},
		{"America/New_York", "2024-03-11T04:00:00Z", "2024-03-11"},
		{"America/New_York", "2024-11-03T03:59:59Z", "2024-11-02"},
		{"America/New_York", "2024-11-03T04:00:00Z", "2024-11-03"},
		{"America/New_York", "2024-11-04T04:59:59Z", "2024-11-03"},
		{"America/New_York", "2024-11-04T05:00:00Z", "2024-11-04"},
		// Midnight that does not exist, and midnight that comes twice.
		{"America/Santiago", "2022-09-11T03:59:59Z", "2022-09-10"},
		{"America/Santiago", "2022-09-11T04:00:00Z", "2022-09-11"},
		{"America/Havana", "2023-11-05T04:30:00Z", "2023-11-05"},
		{"America/Havana", "2023-11-05T05:30:00Z", "2023-11-05"},
		{"America/Asuncion", "2024-03-24T02:59:59Z", "2024-03-23"},
		// Samoa had no 30 December 2011.
		{"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"},
	} {
		if got := DayIn(zone(t, c.zone), instant(t, c.now)); got != day(t, c.want) {
			t.Errorf("%s in %s: got %s, want %s", c.now, c.zone, got, c.want)
		}
	}
}

func TestSamoaNeverHadTheDayThatItSkipped(t *testing.T) {
	apia, skipped := zone(t, "Pacific/Apia"), day(t, "2011-12-30")
	for now := instant(t, "2011-12-28T00:00:00Z"); now.Before(instant(t, "2012-01-02T00:00:00Z")); now = now.Add(time.Minute) {
		if DayIn(apia, now) == skipped {
			t.Fatalf("it was %s at %s", skipped, now)
		}
	}
}

func FuzzZoneAcceptsOnlyListedNames(f *testing.F) {
	for _, name := range append(noZones, "UTC", "America/New_York", "Etc/GMT+12") {
		f.Add(name)
	}
	names := ZoneNames()
	f.Fuzz(func(t *testing.T, name string) {
		_, listed := slices.BinarySearch(names, name)
		zone, err := Zone(name)
		if (err == nil) != listed {
			t.Fatalf("%q: listed %t, got %v, %v", name, listed, zone, err)
		}
		if listed && zone.String() != name {
			t.Fatalf("%q is called %s", name, zone)
		}
	})
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
