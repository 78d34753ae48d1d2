package loader

import (
	"context"
	"fmt"

	"adlens/internal/manifest"
)

// Verify holds what is live of an account against what the manifest says and
// against itself, and returns what does not add up: months whose facts have
// another number of rows than were loaded, or other sums than their rollups;
// years that are not their months. It reads every row of the account.
func Verify(ctx context.Context, store Store, account string) (faults []string, err error) {
	m, err := store.Manifest(ctx, account)
	if err != nil {
		return nil, err
	}
	return VerifyAs(ctx, store, account, m)
}

// VerifyAs is Verify against a manifest that need not be visible.
func VerifyAs(ctx context.Context, store Store, account string, m manifest.Manifest) (faults []string, err error) {
	months := m.Of(manifest.Month)
	sums, err := store.MonthSums(ctx, account, months)
	if err != nil {
		return nil, err
	}
	for _, e := range months {
		switch s := sums[e.Generation]; {
		case s.Facts.Rows != e.Rows:
			faults = append(faults, fmt.Sprintf("%s has %d rows, %d were loaded", e.Unit, s.Facts.Rows, e.Rows))
		case !s.Days.sameFigures(s.Facts) || !s.Products.sameFigures(s.Facts):
			faults = append(faults, fmt.Sprintf("%s: its rollups do not add up to its facts", e.Unit))
		}
	}
	years := m.Of(manifest.Year)
	yearSums, err := store.YearSums(ctx, account, PartsOf(years, months))
	if err != nil {
		return nil, err
	}
	for _, e := range years {
		if s := yearSums[e.Generation]; !s.Year.sameFigures(s.Months) {
			faults = append(faults, fmt.Sprintf("%s does not add up to its months", e.Unit))
		}
	}
	return faults, nil
}

// PartsOf says which live months each year is made of.
func PartsOf(years, months []manifest.Entry) []YearParts {
	all := make([]YearParts, len(years))
	for i, y := range years {
		all[i].Start, all[i].Generation = y.Start, y.Generation
		for _, m := range months {
			if m.Slice == y.Slice && m.Start.FirstOfYear() == y.Start {
				all[i].Months = append(all[i].Months, m.Generation)
			}
		}
	}
	return all
}
