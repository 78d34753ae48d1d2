package main

import (
	"context"
	"os"
	"time"

	"adlens"
	"adlens/internal/made"
)

// restateDays is how long a restated window is.
const restateDays = 30

// measureRestatements measures replacing 30 days of all slices and of one, and leaves
// further windows restated whose old rows were not collected.
func (f *filler) measureRestatements(ctx context.Context, heavy *account, more int) error {
	all, one := len(heavy.reportSlices()), 1
	var err error
	if f.state.Loading.RestateAll, err = f.restateTimes(ctx, heavy, all, 3); err != nil {
		return err
	}
	if f.state.Loading.RestateOne, err = f.restateTimes(ctx, heavy, one, 3); err != nil {
		return err
	}
	for i := range more {
		end := f.shape.End - adlens.Day(i*7%(f.shape.Years*daysOfYear-restateDays))
		if _, _, err := f.restateWindow(ctx, heavy, all, end-restateDays+1, end); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) restateTimes(ctx context.Context, a *account, slices, times int) (Restate, error) {
	var seconds []float64
	r := Restate{Runs: times}
	for range times {
		totals, took, err := f.restateWindow(ctx, a, slices, f.shape.End-restateDays+1, f.shape.End)
		if err != nil {
			return r, err
		}
		r.Rows, r.Bytes = totals.Rows, totals.Bytes
		seconds = append(seconds, took.Wall.Seconds())
	}
	r.Seconds = percentileOf(seconds, 50)
	return r, nil
}

// restateWindow replaces a window of the first slices by newer reports.
func (f *filler) restateWindow(ctx context.Context, a *account, slices int, from, to adlens.Day) (Totals, used, error) {
	var totals Totals
	dir, err := os.MkdirTemp(f.scratch, "restated-")
	if err != nil {
		return totals, used{}, err
	}
	writer := made.NewWriter(dir)
	version := len(f.state.Restated) + 1
	generated := (f.shape.End + 1).Time().Add(3*time.Hour + time.Duration(version)*time.Minute)
	live := f.state.Totals[a.id]
	for _, of := range a.reportSlices()[:slices] {
		for start := from; start <= to; start = start.LastOfMonth() + 1 {
			t, err := f.shape.writeReport(report{of, start, min(to, start.LastOfMonth()), version, generated}, writer)
			if err != nil {
				return totals, used{}, err
			}
			totals.addTotals(t)
		}
		for day := from; day <= to; day++ {
			live.removeTotals(f.shape.sumDay(of, day, f.state.versionOf(a.id, of, day)))
		}
	}
	took, err := f.loadDir(ctx, a, dir)
	if err != nil {
		return totals, took, err
	}
	live.addTotals(totals)
	f.state.Totals[a.id] = live
	f.state.Restated = append(f.state.Restated, restated{a.id, slices, from.String(), to.String()})
	f.state.Raw, f.state.DuckDB, f.state.Postgres = false, false, false
	return totals, took, f.state.saveState()
}

// versionOf is the version of the rows that are live for a slice's day.
func (s *state) versionOf(account string, of slice, day adlens.Day) int {
	number, date := 0, day.String()
	for i, candidate := range of.account.reportSlices() {
		if candidate == of {
			number = i
		}
	}
	for i := len(s.Restated) - 1; i >= 0; i-- {
		r := s.Restated[i]
		if r.Account == account && number < r.Slices && r.From <= date && date <= r.To {
			return i + 1
		}
	}
	return 0
}
