package loader

import (
	"fmt"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/manifest"
)

// Sums are the sums of some rows by measure, in the order of the headline
// columns. No file or month is too large for them.
type Sums struct {
	Rows    uint64
	Figures exact.Sums // counts, and money in millionths of a US dollar
	Source  exact.Sums // counts, and money in units of 10^-20 of its own currency
}

// addSums adds the sums of other rows.
func (s *Sums) addSums(t Sums) {
	s.Rows += t.Rows
	s.Figures.AddSums(t.Figures)
	s.Source.AddSums(t.Source)
}

// addDays adds the sums of those days of a month that a report speaks for.
func (s *Sums) addDays(days map[adlens.Day]*Sums, first adlens.Day, claimed manifest.Days) {
	for day := first; day <= first.LastOfMonth(); day++ {
		if sums, ok := days[day]; ok && holdsDay(claimed, day) {
			s.addSums(*sums)
		}
	}
}

// String writes the sums for an error.
func (s Sums) String() string {
	return fmt.Sprintf("%d rows, %v are %v in millionths of a dollar and %v in units of 10^-20 of their own currency",
		s.Rows, headlineNames[:measures], s.Figures, s.Source)
}
