package loader

import (
	"context"
	"os"

	"adlens/internal/platform"
)

// SetGrainBudget makes the memory for the sums of one report small, so that a
// test's report is read in several parts. It returns how to undo that.
func SetGrainBudget(bytes int) (undo func()) {
	before := grainBudget
	grainBudget = bytes
	return func() { grainBudget = before }
}

// ReadReport reads and sums a report's download without a store, and returns
// how many days and products it has.
func ReadReport(dir, object, downloaded string) (grains int, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	f, err := root.Open(object)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	report, err := platform.DecodeReport(f)
	if err != nil {
		return 0, err
	}
	turn := make(chan struct{})
	close(turn)
	market := Marketplace{Profile: platform.Profile{ID: report.ProfileID, Currency: "USD"}}
	d := download{pending: pending{file: file{root: root, download: downloaded}, report: report, market: market}, progress: unheard{}, turn: turn, alone: true}
	c, err := d.readContent(context.Background())
	if err != nil {
		return 0, err
	}
	return len(c.table.grains), nil
}

// MergeProfiles adds a profile to an account with so many, and returns how many it then has.
func MergeProfiles(held int, added platform.Profile) (int, error) {
	s := session{markets: make([]Marketplace, held)}
	next, err := s.mergeProfiles(s.markets, []platform.Profile{added})
	return len(next), err
}

type unheard struct{}

func (unheard) Step(string, int, int) {}
func (unheard) Rows(int)              {}
func (unheard) Notice(string)         {}
