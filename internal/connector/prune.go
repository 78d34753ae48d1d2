package connector

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// pruneReports deletes reports in a directory of extracts that say nothing any more:
// for each of their days a later one of the same profile and type is visible.
// Without it a server would keep each day's figures dozens of times. What is
// left gives the same figures when it is loaded anywhere; of legacy reports, where lists
// name their campaigns.
func pruneReports(dir string, visible map[string]bool) error {
	all, err := readReports(dir)
	if err != nil {
		return err
	}
	if err := removeHalves(dir); err != nil {
		return err
	}
	later := slices.DeleteFunc(slices.Clone(all), func(r keptReport) bool { return !visible[r.ID] })
	var failures []error
	for _, r := range all {
		if r.isSuperseded(later) {
			// The object goes first: a download alone is nothing. One that people put here may not be packed.
			failures = append(failures, removeIfThere(r.stem+reportSuffix), removeIfThere(r.stem+downloadSuffix), removeIfThere(strings.TrimSuffix(r.stem+downloadSuffix, ".gz")))
		}
	}
	return errors.Join(failures...)
}

// halfLife is how old a file is that no process goes on to write.
const halfLife = 24 * time.Hour

// requestNames are the names that downloads of requestName have.
var requestNames = regexp.MustCompile(`^[0-9]+-.+-[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}-[0-9]{2}-[0-9]{2}` + regexp.QuoteMeta(downloadSuffix) + `$`)

// removeHalves deletes what processes that were killed had written half: files, and downloads
// without their objects, which every load of the directory would refuse.
func removeHalves(dir string) (failed error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		half, _ := filepath.Match(halfNames, e.Name())
		if requestNames.MatchString(e.Name()) {
			_, err := os.Lstat(filepath.Join(dir, strings.TrimSuffix(e.Name(), downloadSuffix)+reportSuffix))
			half = errors.Is(err, fs.ErrNotExist)
		}
		if info, err := e.Info(); half && err == nil && time.Since(info.ModTime()) > halfLife {
			failed = errors.Join(failed, removeIfThere(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(err, failed)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keptReport is a report in a directory.
type keptReport struct {
	*platform.Report
	stem string // of its path
}

// readReports reads the report objects of a directory, if there is one. One that
// is not sound is left alone.
func readReports(dir string) ([]keptReport, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []keptReport
	for _, e := range entries {
		stem, ok := cutReport(filepath.Join(dir, e.Name()))
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if report, err := readReport(stem + reportSuffix); err == nil {
			all = append(all, keptReport{report, stem})
		}
	}
	return all, nil
}

// readReport reads a report object.
func readReport(path string) (*platform.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return platform.DecodeReport(f)
}

// isSuperseded reports whether later ones of some reports speak for each day of
// this one.
func (r keptReport) isSuperseded(all []keptReport) bool {
	for day := r.Start; day <= r.End; day++ {
		if !slices.ContainsFunc(all, func(other keptReport) bool { return other.speaksInsteadOf(r, day) }) {
			return false
		}
	}
	return true
}

func (r keptReport) speaksInsteadOf(other keptReport, day adlens.Day) bool {
	return r.ProfileID == other.ProfileID && r.Type == other.Type && r.Start <= day && day <= r.End &&
		r.GeneratedAt.After(other.GeneratedAt)
}
