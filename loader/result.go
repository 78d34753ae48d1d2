package loader

import (
	"errors"
	"fmt"
	"strings"

	"adlens"
)

// Status is what became of a file.
type Status string

// What becomes of a file.
const (
	Loaded    Status = "loaded"    // its figures are visible now
	Unchanged Status = "unchanged" // all that it says was here, or is superseded
	Refused   Status = "refused"   // it is bad; nothing of it was taken
	Skipped   Status = "skipped"   // its name is none of an extract's
	Failed    Status = "failed"    // not its fault: the load could not be finished; nothing of it was taken
	Waiting   Status = "waiting"   // a downloaded report that lacks rates or a list alone; it is loaded once they are there. Load itself refuses it
)

// FileResult is what became of one file.
type FileResult struct {
	File   string  `json:"file"`
	Status Status  `json:"status"`
	Rows   int     `json:"rows"`
	Error  *string `json:"error"`
	Notice string  `json:"notice,omitempty"`
	// MissingRates is set where a sound report was refused for want of rates
	// alone: it loads once they are there.
	MissingRates *MissingRates `json:"-"`
	// Unlisted is set where a legacy report was refused for want of a list of
	// campaigns alone: it loads once that was read.
	Unlisted bool `json:"-"`
}

// Result is what became of all files of a call, in the order of loading.
type Result struct {
	Files []FileResult `json:"files"`
}

// Refused counts the files that were refused.
func (r Result) Refused() int {
	n := 0
	for _, f := range r.Files {
		if f.Status == Refused {
			n++
		}
	}
	return n
}

func refusedResult(file string, err error) FileResult {
	// Faults that were found together are one line, as a log wants it.
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	result := FileResult{File: file, Status: Refused, Error: &text}
	errors.As(err, &result.MissingRates)
	var u *unlisted
	result.Unlisted = errors.As(err, &u)
	return result
}

// MissingRates is why a report of days without a rate is refused.
type MissingRates struct {
	Currency string
	Days     []adlens.Day // in order
}

func (m *MissingRates) Error() string {
	lines := make([]string, len(m.Days))
	for i, day := range m.Days {
		lines[i] = fmt.Sprintf("no rate for %s on %s: expected one in rates.csv or a file of the European Central Bank for that day or one of the %d before it", m.Currency, day, RateReach)
	}
	return strings.Join(lines, "\n")
}

func skippedResult(file, why string) FileResult {
	return FileResult{File: file, Status: Skipped, Notice: why}
}

// Refusal is an error that is the file's fault: the file is refused and the
// others are still loaded. Any other error ends the load.
type Refusal struct{ Err error }

func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the fault.
func (r *Refusal) Unwrap() error { return r.Err }

func asRefusal(err error) error {
	if err == nil {
		return nil
	}
	return &Refusal{err}
}

func newRefusalf(format string, args ...any) error { return &Refusal{fmt.Errorf(format, args...)} }

func isRefusal(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// Progress hears how a load goes on. All methods may be called often.
type Progress interface {
	// Step is called when a file is begun: it is number done+1 of total.
	Step(file string, done, total int)
	// Rows is called as rows of the file are read.
	Rows(n int)
	// Notice is called with what the user should know without being at fault.
	Notice(text string)
}
