package period

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adlens"
)

// database is Go's own copy of the IANA time-zone database. The system's is
// never asked: it differs between machines in age, and on some in spelling.
//
//go:embed zoneinfo.zip
var database string

// ZoneError says that a name is not in the time-zone database.
type ZoneError struct{ Name string }

func (e *ZoneError) Error() string {
	return fmt.Sprintf("%q is no time zone of the IANA time-zone database", e.Name)
}

// Zone returns the time zone (or link) of exactly this name. The error is a
// *ZoneError where the database has none.
func Zone(name string) (*time.Location, error) {
	load, ok := zones()[name]
	if !ok {
		return nil, &ZoneError{Name: name}
	}
	return load()
}

// ZoneNames lists all names that Zone accepts, sorted.
func ZoneNames() []string { return slices.Sorted(maps.Keys(zones())) }

// DayIn returns the day that it is in a zone at an instant.
func DayIn(zone *time.Location, now time.Time) adlens.Day {
	return adlens.DayOf(now.In(zone))
}

// loader parses a zone at its first use and keeps it: what is kept can never
// be more than the database.
type loader func() (*time.Location, error)

var zones = sync.OnceValue(func() map[string]loader {
	archive, err := zip.NewReader(strings.NewReader(database), int64(len(database)))
	if err != nil {
		panic("period: the time-zone database in the binary is damaged: " + err.Error())
	}
	all := make(map[string]loader, len(archive.File))
	for _, file := range archive.File {
		if isZoneName(file.Name) && isZoneData(file) {
			all[file.Name] = sync.OnceValues(func() (*time.Location, error) { return parseZone(file) })
		}
	}
	return all
})

// isZoneName refuses what some copies of the database hold beside zones:
// placeholders, the machine's own setting, and second sets of all zones, of
// which right/ counts leap seconds.
func isZoneName(name string) bool {
	if slices.Contains([]string{"Factory", "Local", "localtime", "posixrules"}, name) {
		return false
	}
	folder, _, _ := strings.Cut(name, "/")
	return folder != "posix" && folder != "right" && !strings.HasSuffix(name, "/")
}

func isZoneData(file *zip.File) bool {
	in, err := file.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	var magic [4]byte
	_, err = io.ReadFull(in, magic[:])
	return err == nil && string(magic[:]) == "TZif"
}

func parseZone(file *zip.File) (*time.Location, error) {
	in, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", file.Name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", file.Name, err)
	}
	return time.LoadLocationFromTZData(file.Name, data)
}
