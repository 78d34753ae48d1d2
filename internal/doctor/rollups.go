package doctor

import (
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/manifest"
	"adlens/internal/tables"
	"adlens/loader"
)

// batchRows bounds the rows of facts that one statement reads, so that it takes
// little memory and seconds at most.
const batchRows = 2_000_000

// checkRollups adds up everything again and compares it, row by row.
func (e *examination) checkRollups(c *checkup) (string, error) {
	var done, total uint64
	for _, a := range e.accounts {
		for _, l := range a.manifest.Of(manifest.Month) {
			total += l.Rows
		}
	}
	e.forEach(c, func(c *checkup, a account) error {
		var spoilt []manifest.Unit
		months, err := e.wholeMonths(a)
		if err != nil {
			return err
		}
		for _, batch := range splitBatches(months) {
			e.Added(done, total)
			wrong, err := e.monthRollups(c, a, batch)
			if err != nil {
				return err
			}
			spoilt = append(spoilt, wrong...)
			for _, l := range batch {
				done += l.Rows
			}
		}
		e.Added(done, total)
		return e.yearRollups(c, a, spoilt)
	})
	if done < total {
		return fmt.Sprintf("%s of facts added up again, to the last digit; %s of months that lost some were left out", adlens.FormatCount(int(done), "row"), adlens.FormatCount(int(total-done), "row")), nil
	}
	return fmt.Sprintf("%s of facts added up again, to the last digit", adlens.FormatCount(int(done), "row")), nil
}

// wholeMonths are the months that have the rows that were loaded. What is wrong
// with the others is reported by the manifest's check.
func (e *examination) wholeMonths(a account) ([]manifest.Entry, error) {
	months := a.manifest.Of(manifest.Month)
	if len(months) == 0 {
		return nil, nil
	}
	stored, err := e.countRows(a, manifest.Month, 0)
	return slices.DeleteFunc(slices.Clone(months), func(l manifest.Entry) bool { return stored[l.Generation] != l.Rows }), err
}

// splitBatches splits units so that each batch has a bounded number of rows.
func splitBatches(all []manifest.Entry) (split [][]manifest.Entry) {
	rows := uint64(0)
	for _, l := range all {
		if len(split) == 0 || rows+l.Rows > batchRows {
			split, rows = append(split, nil), 0
		}
		split[len(split)-1] = append(split[len(split)-1], l)
		rows += l.Rows
	}
	return split
}

// monthRollups compares days and products with their facts, and returns the
// months whose products are wrong.
func (e *examination) monthRollups(c *checkup, a account, batch []manifest.Entry) (wrong []manifest.Unit, err error) {
	days, err := e.db.Audit.DayDifferences(e.ctx, a.ID, batch)
	if err != nil {
		return nil, err
	}
	if _, err := e.sayDifferences(c, a, "day_totals", "their facts", days, batch); err != nil {
		return nil, err
	}
	for _, rollup := range tables.Rollups(manifest.Month) {
		some := unitsOf(rollup, batch)
		different, err := e.db.Audit.MonthDifferences(e.ctx, a.ID, rollup, some)
		if err != nil {
			return nil, err
		}
		found, err := e.sayDifferences(c, a, rollup.Name, "their facts", different, some)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, found...)
	}
	return wrong, nil
}

// yearRollups compares years with their months. Years of a month that is wrong
// itself are left out: that was reported.
func (e *examination) yearRollups(c *checkup, a account, spoilt []manifest.Unit) error {
	years := slices.DeleteFunc(slices.Clone(a.manifest.Of(manifest.Year)), func(y manifest.Entry) bool {
		return slices.ContainsFunc(spoilt, func(m manifest.Unit) bool { return m.Slice == y.Slice && m.Start.FirstOfYear() == y.Start })
	})
	if len(years) == 0 {
		return nil
	}
	for _, rollup := range tables.Rollups(manifest.Year) {
		some := unitsOf(rollup, years)
		different, err := e.db.Audit.YearDifferences(e.ctx, a.ID, rollup, loader.PartsOf(some, a.manifest.Of(manifest.Month)))
		if err != nil {
			return err
		}
		if _, err = e.sayDifferences(c, a, rollup.Name, "their months", different, some); err != nil {
			return err
		}
	}
	return nil
}

// unitsOf are those of the units that have a rollup.
func unitsOf(rollup tables.Description, all []manifest.Entry) []manifest.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e manifest.Entry) bool { return rollup.ByAdGroup() && !e.ByAdGroup() })
}

// sayDifferences names the units whose rollup is wrong, and returns them.
func (e *examination) sayDifferences(c *checkup, a account, table, source string, different map[uint32]audit.Difference, units []manifest.Entry) ([]manifest.Unit, error) {
	suspects := slices.DeleteFunc(slices.Clone(units), func(l manifest.Entry) bool { return different[l.Generation].Rows == 0 })
	suspects, err := e.stillLive(a, suspects)
	if err != nil || len(suspects) == 0 {
		return nil, err
	}
	var wrong []manifest.Unit
	var names []string
	for _, l := range suspects {
		d := different[l.Generation]
		wrong = append(wrong, l.Unit)
		names = append(names, fmt.Sprintf("%s (%s, the first of %s %s)", a.unitName(l.Unit), adlens.FormatCount(d.Rows, "row"), keyOf(table), d.First))
	}
	c.addFailure(restore, "%s differs from %s: %s", table, source, joinFew(names))
	return wrong, nil
}

// keyOf says what tells the rows of a rollup's unit apart.
func keyOf(table string) string {
	d, _ := tables.Find(table)
	if d.Keys == "" {
		return "day"
	}
	return strings.ReplaceAll(d.Keys, "_", " ")
}

func generationNumbers(all []manifest.Entry) []uint32 {
	numbers := make([]uint32, len(all))
	for i, l := range all {
		numbers[i] = l.Generation
	}
	return numbers
}
