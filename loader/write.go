package loader

import (
	"context"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/platform"
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
	head    headline
	extras  []from // of the columns behind the headline
	columns []int  // of the build's block
}

// from is a column of the reader.
type from struct {
	money bool
	at    int
}

func (w *reportWriter) layout(r *platform.RowReader) layout {
	purchases, sales := w.download.headlineColumns()
	l := layout{head: headlineOf(r, purchases, sales)}
	place := map[string]from{}
	for i, column := range r.CountColumns {
		place[column] = from{at: i}
	}
	for i, column := range r.AmountColumns {
		place[column] = from{money: true, at: i}
	}
	var stored []platform.Measure
	for _, m := range extraMeasures(w.download.report.Type.Measures) {
		if f, ok := place[m.Column]; ok {
			stored, l.extras = append(stored, m), append(l.extras, f)
		}
	}
	l.columns = w.build.block.columns(stored)
	return l
}

// table writes the grains of a table that lie in claimed days.
func (w *reportWriter) table(ctx context.Context, t *table) error {
	session := w.build.session
	keys := make([]uint32, len(t.products))
	for number, product := range t.products {
		keys[number] = session.productKey(product)
	}
	l, slice := w.layout(t.reader), w.slice()
	for _, i := range t.sorted(keys) {
		g := t.grains[i]
		generation, claimed := w.generation(g.day)
		if !claimed {
			continue
		}
		sums, err := w.sums(l, t, i)
		if err != nil {
			return fmt.Errorf("day %s, product %q: %w", g.day, t.products[g.product], err)
		}
		if !anySum(sums) {
			continue
		}
		w.build.block.add(slice, generation, g.day, keys[g.product], l.columns, sums)
		if err := w.build.send(ctx, blockRows); err != nil {
			return err
		}
	}
	return nil
}

func (w *reportWriter) slice() manifest.Slice {
	return manifest.Slice{Marketplace: w.download.market.Key, AdProduct: w.download.report.Type.AdProduct}
}

// generation returns the generation that a day's facts are written under, if
// the report speaks for the day.
func (w *reportWriter) generation(day adlens.Day) (uint32, bool) {
	u := manifest.Unit{Kind: manifest.Month, Slice: w.slice(), Start: day.FirstOfMonth()}
	if !holdsDay(w.claims[u], day) {
		return 0, false
	}
	return w.build.units[u].entry.Generation, true
}

// sums are the columns of one fact, converted. They hold until the next.
func (w *reportWriter) sums(l layout, t *table, i int) ([]exact.Uint128, error) {
	counts, amounts := t.of(i)
	w.row = slices.Grow(w.row[:0], headlineColumns+len(l.extras))[:headlineColumns+len(l.extras)]
	sums := w.row
	sums[colImpressions] = counts[l.head.impressions].Units()
	sums[colClicks] = counts[l.head.clicks].Units()
	sums[colPurchases] = counts[l.head.purchases].Units()
	rate, _ := w.build.session.rates.At(w.download.market.Currency, t.grains[i].day) // convertible has made sure
	if err := setMoney(sums, amounts[l.head.spend], amounts[l.head.sales], rate); err != nil {
		return nil, err
	}
	for e, f := range l.extras {
		if f.money {
			sums[headlineColumns+e] = amounts[f.at].RoundMicros()
		} else {
			sums[headlineColumns+e] = counts[f.at].Units()
		}
	}
	return sums, nil
}

// setMoney fills the headline's amounts: exact in the own currency, rounded
// once in US dollars.
func setMoney(sums []exact.Uint128, spend, sales, rate adlens.Amount) (err error) {
	if sums[colSpend], err = dollars(spend, rate); err != nil {
		return err
	}
	if sums[colSales], err = dollars(sales, rate); err != nil {
		return err
	}
	setLocal(sums, colSpendLocal, colSpendRest, spend)
	setLocal(sums, colSalesLocal, colSalesRest, sales)
	return nil
}

func setLocal(sums []exact.Uint128, whole, rest int, a adlens.Amount) {
	sums[whole], sums[rest].Lo = a.Micros()
	sums[rest].Hi = 0
}

func anySum(sums []exact.Uint128) bool {
	for _, s := range sums {
		if s != (exact.Uint128{}) {
			return true
		}
	}
	return false
}
