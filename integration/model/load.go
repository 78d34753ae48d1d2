package model

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The statuses that the loader reports for a file.
const (
	Loaded    = "loaded"
	Unchanged = "unchanged"
	Refused   = "refused"
)

// Result says what became of one file. Either is set where the order inside
// one command decides between loaded and unchanged: both are right then.
type Result struct {
	Path   string
	Status string
	Either bool
	Err    error
	report *report
}

// Load takes files and directories as one loader command does: profiles first,
// then rates, products, reports, exports and records. Downloads follow the
// objects that speak of them.
func (a *Account) Load(paths ...string) []Result {
	files := gatherFiles(paths)
	a.facts, a.names = nil, nil
	var results []Result
	for _, kind := range []struct {
		suffix string
		take   func(string) (*report, string, error)
	}{
		{"profiles.json", a.takeProfiles}, {"rates.csv", a.takeRates},
		{"eurofxref.csv", a.takeBankRates}, {"eurofxref.zip", a.takeBankRates}, {"eurofxref-hist.csv", a.takeBankRates}, {"eurofxref-hist.zip", a.takeBankRates},
		{"products.csv", a.takeProducts}, {".report.json", a.takeReport}, {".csv", a.takeConsole}, {".xlsx", a.takeConsole},
		{".export.json", a.takeExport}, {".report.json", a.takeLegacy}, {"rules.ndjson", a.takeRules},
		{"rule_runs.ndjson", a.takeRuns}, {"activity.ndjson", a.takeActivity},
	} {
		for _, file := range files {
			if !matchesName(file, kind.suffix) {
				continue
			}
			r, status, err := kind.take(file)
			if errors.Is(err, errNotItsTurn) {
				continue
			}
			if err != nil {
				status = Refused
			}
			results = append(results, Result{Path: file, Status: status, Err: err, report: r})
		}
	}
	a.markEither(results)
	return results
}

// tables are those that are no reports of the console.
var tables = []string{"rates.csv", "products.csv", "eurofxref.csv", "eurofxref-hist.csv"}

// matchesName reports whether a file is of a kind: a whole name, or one that ends so.
func matchesName(file, kind string) bool {
	base := filepath.Base(file)
	if kind == ".csv" && slices.Contains(tables, base) {
		return false
	}
	return base == kind || strings.HasPrefix(kind, ".") && strings.HasSuffix(base, kind)
}

// markEither finds the reports of this command that others of the same
// command superseded, or that came twice in it.
func (a *Account) markEither(results []Result) {
	times := map[string]int{}
	for _, r := range results {
		if r.report != nil {
			times[r.report.reportKey()]++
		}
	}
	for i, r := range results {
		if r.report == nil {
			continue
		}
		late := r.Status == Loaded && a.isSuperseded(r.report)
		early := r.Status == Unchanged && !a.knownBefore(r.report)
		results[i].Either = late || early || (times[r.report.reportKey()] > 1 && !a.knownBefore(r.report))
	}
	for _, r := range results {
		if r.report != nil {
			a.reports[r.report.reportKey()].settled = true
		}
	}
}

// knownBefore reports whether reports of earlier commands speak for all of r.
func (a *Account) knownBefore(r *report) bool {
	if held := a.reports[r.reportKey()]; held != nil && held.settled {
		return true
	}
	for day := r.start; day <= r.end; day = AddDays(day, 1) {
		if !a.settledBeats(r, day) {
			return false
		}
	}
	return true
}

func (a *Account) settledBeats(r *report, day string) bool {
	for _, o := range a.reports {
		if o.settled && o.sameSlice(r) && o.coversDay(day) && o.isNewerThan(r) {
			return true
		}
	}
	return false
}

func gatherFiles(paths []string) []string {
	var files []string
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			panic(fmt.Sprintf("model: %v", err))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
