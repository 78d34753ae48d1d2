package loader

import (
	"context"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// reportWriter turns the sums of a report into facts of the days that it
// speaks for.
type reportWriter struct {
	build    *build
	download *download
	claims   map[manifest.Unit]manifest.Days
	row      []exact.Uint128 // the columns of one fact, overwritten by the next
}

// layout says where the columns of a fact come from.
type layout struct {
	headline [measures]source
	extras   []source // of the columns after the headline
	columns  []int    // of the build's block
}

// source is a column of the reader.
type source struct {
	money bool
	at    int
}

// sourceOf finds a column of the reader.
func sourceOf(r *platform.RowReader, column string) (s source, ok bool) {
	if at := slices.Index(r.CountColumns, column); at >= 0 {
		return source{at: at}, true
	}
	at := slices.Index(r.AmountColumns, column)
	return source{money: true, at: at}, at >= 0
}

// headlineOf finds the columns that figures follow from, which every report has.
func headlineOf(r *platform.RowReader, columns []string) (all [measures]source) {
	for i, column := range columns {
		all[i], _ = sourceOf(r, column)
	}
	return all
}

func (w *reportWriter) columnLayout(r *platform.RowReader) layout {
	l := layout{headline: headlineOf(r, w.download.headlineColumns())}
	var stored []catalogue.Measure
	for _, m := range catalogue.Extra {
		if s, ok := sourceOf(r, m.Column); ok {
			stored, l.extras = append(stored, m), append(l.extras, s)
		}
	}
	l.columns = w.build.block.ensureColumns(stored)
	return l
}

// writeTable writes the grains of a table that lie in claimed days.
func (w *reportWriter) writeTable(ctx context.Context, t *table) error {
	session := w.build.session
	keys := make([]uint32, len(t.products))
	for number, product := range t.products {
		keys[number] = session.productKey(product)
	}
	l, slice := w.columnLayout(t.reader), w.reportSlice()
	for _, i := range t.sortedGrains(keys) {
		g := t.grains[i]
		generation, claimed := w.generationOn(g.day)
		if !claimed {
			continue
		}
		sums, err := w.convertSums(l, t, i)
		if err != nil {
			return fmt.Errorf("day %s, product %q: %w", g.day, t.products[g.product], err)
		}
		if !anySum(sums) {
			continue
		}
		w.build.block.addFact(slice, generation, g.day, keys[g.product], l.columns, sums)
		if err := w.build.flushBlock(ctx, blockRows); err != nil {
			return err
		}
	}
	return nil
}

func (w *reportWriter) reportSlice() manifest.Slice {
	return manifest.Slice{Marketplace: w.download.market.Key, AdProduct: w.download.report.Type.AdProduct}
}

// generationOn returns the generation that a day's facts are written under, if
// the report speaks for the day.
func (w *reportWriter) generationOn(day adlens.Day) (uint32, bool) {
	u := manifest.Unit{Kind: manifest.Month, Slice: w.reportSlice(), Start: day.FirstOfMonth()}
	if !holdsDay(w.claims[u], day) {
		return 0, false
	}
	return w.build.units[u].entry.Generation, true
}

// convertSums are the columns of one fact, converted. They hold until the next.
func (w *reportWriter) convertSums(l layout, t *table, i int) ([]exact.Uint128, error) {
	w.row = slices.Grow(w.row[:0], len(l.columns))[:len(l.columns)]
	sums := w.row
	rate, _ := w.build.session.rates.At(w.download.market.Currency, t.grains[i].day) // convertible has made sure
	for column, s := range l.headline {
		if !s.money {
			sums[column] = t.columnSum(i, s)
		} else if err := setAmount(sums, column, adlens.AmountOf(t.columnSum(i, s)), rate); err != nil {
			return nil, err
		}
	}
	for e, s := range l.extras {
		sum := t.columnSum(i, s)
		if s.money {
			sum = adlens.AmountOf(sum).RoundMicros()
		}
		sums[len(headlineNames)+e] = sum
	}
	return sums, nil
}

func anySum(sums []exact.Uint128) bool {
	for _, s := range sums {
		if s != (exact.Uint128{}) {
			return true
		}
	}
	return false
}
