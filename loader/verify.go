package loader

import (
	"context"
	"fmt"
	"slices"

	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Verify compares what is live of an account with what was loaded and with
// itself, and returns what does not add up: small tables with another number of
// rows; months whose facts have another number of rows, or other sums than their
// rollups; years that are not their months. It reads every row of the account.
func Verify(ctx context.Context, store Store, account string) (faults []string, err error) {
	state, err := commits.Read(ctx, store.Tables(), account)
	if err != nil {
		return nil, err
	}
	return VerifyAs(ctx, store, account, state.Manifest)
}

// VerifyRestored compares all rows of an account that is not visible with what is
// going to be its manifest, and with themselves.
func VerifyRestored(ctx context.Context, store Store, account string, m manifest.Manifest) (faults []string, err error) {
	counts, err := store.Tables().CountRows(ctx, account, tables.OfGenerations()...)
	if err != nil {
		return nil, err
	}
	if faults := commits.RowFaults(m.Entries(), counts, tables.OfGenerations()...); m.Counted() && len(faults) > 0 {
		return faults, nil
	}
	return VerifyAs(ctx, store, account, m)
}

// VerifyAs is Verify against a manifest that need not be visible.
func VerifyAs(ctx context.Context, store Store, account string, m manifest.Manifest) (faults []string, err error) {
	counts, err := store.Tables().ReadRows(ctx, account, tables.SmallOfGenerations()...)
	if err != nil {
		return nil, err
	}
	if m.Counted() {
		faults = commits.RowFaults(m.Entries(), counts, tables.SmallOfGenerations()...)
	}
	months, years := m.Of(manifest.Month), m.Of(manifest.Year)
	parts := PartsOf(years, months)
	sums, err := store.Sums(ctx, account, months, nil, parts)
	if err != nil {
		return nil, err
	}
	for _, e := range months {
		switch s := monthSums(sums, e.Generation); {
		case s.source.Rows != e.Rows:
			faults = append(faults, fmt.Sprintf("%s has %d rows, %d were loaded", e.Unit, s.source.Rows, e.Rows))
		case !s.addUp(e.ByAdGroup()):
			faults = append(faults, fmt.Sprintf("%s: its rollups do not add up to its facts", e.Unit))
		}
	}
	for i, e := range years {
		if !yearSums(sums, parts[i]).addUp(e.ByAdGroup()) {
			faults = append(faults, fmt.Sprintf("%s does not add up to its months", e.Unit))
		}
	}
	return faults, nil
}

// PartsOf says which live months each year is made of.
func PartsOf(years, months []manifest.Entry) []YearParts {
	all := make([]YearParts, len(years))
	for i, y := range years {
		all[i].Unit, all[i].Generation = y.Unit, y.Generation
		for _, m := range months {
			if m.Slice == y.Slice && m.Start.FirstOfYear() == y.Start {
				all[i].addMonth(m.Generation, m.ByAdGroup())
			}
		}
	}
	return all
}

func (y *YearParts) addMonth(generation uint32, byAdGroup bool) {
	y.Months = append(y.Months, generation)
	if !byAdGroup {
		y.Undivided = append(y.Undivided, generation)
	}
}

// levelSums are the sums of a generation's rollups, in the order of its kind's tables,
// and of what they were derived of: a month's facts, or a year's months.
type levelSums struct {
	source  Sums
	rollups []Sums
}

// monthSums returns those of a month.
func monthSums(all map[Level]Sums, generation uint32) levelSums {
	names := tables.OfKind(manifest.Month)
	return levelSums{all[Level{names[0], generation}], rollupSums(all, names[1:], generation)}
}

// yearSums returns those of a year, whose months all have rows by product.
func yearSums(all map[Level]Sums, y YearParts) levelSums {
	rollups := tables.OfKind(manifest.Year)
	s := levelSums{rollups: rollupSums(all, rollups, y.Generation)}
	byProduct, _ := tables.Find(rollups[0])
	for _, month := range y.Months {
		s.source.addSums(all[Level{byProduct.MonthsOf(), month}])
	}
	return s
}

func rollupSums(all map[Level]Sums, names []string, generation uint32) (sums []Sums) {
	for _, table := range names {
		sums = append(sums, all[Level{table, generation}])
	}
	return sums
}

// addUp reports whether the rollups have the sums of what they were derived of. Those
// of before there were ad groups have no amounts in their own currency, and none
// by ad group.
func (s levelSums) addUp(byAdGroup bool) bool {
	rollups := s.rollups
	if !byAdGroup {
		rollups = rollups[:min(len(rollups), withoutAdGroups(len(rollups)))]
	}
	return !slices.ContainsFunc(rollups, func(r Sums) bool { return !r.equal(s.source, byAdGroup) })
}

// withoutAdGroups is how many of a generation's rollups come before those by ad group.
func withoutAdGroups(rollups int) int {
	return rollups - len(slices.DeleteFunc(tables.Rollups(manifest.Month), func(d tables.Description) bool { return !d.ByAdGroup() }))
}

// rows are the numbers of rows of the levels, as the manifest has them.
func (s levelSums) rows() (all []uint64) {
	for _, r := range s.rollups {
		all = append(all, r.Rows)
	}
	return all
}

func (s Sums) equal(t Sums, local bool) bool {
	return s.Figures.Equal(t.Figures) && (!local || s.Source.Equal(t.Source))
}
