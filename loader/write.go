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
	sharer

	// Of a product's day, overwritten by the next.
	sums, rows [][]exact.Uint128 // of the grains, and the columns of their facts
	own        []adlens.Amount
}

// layout says where the columns of a fact come from.
type layout struct {
	headline [measures]source
	extras   []source // of the columns after the headline
	columns  []int    // of the build's block
}

// source is a column of a report's rows.
type source struct {
	money bool
	at    int
}

// sourceOf finds a column of a report's rows.
func sourceOf(r platform.RowColumns, column string) (s source, ok bool) {
	if at := slices.Index(r.CountColumns, column); at >= 0 {
		return source{at: at}, true
	}
	at := slices.Index(r.AmountColumns, column)
	return source{money: true, at: at}, at >= 0
}

// headlineOf finds the columns that figures follow from, which every report has.
func headlineOf(r platform.RowColumns, columns []string) (all [measures]source) {
	for i, column := range columns {
		all[i], _ = sourceOf(r, column)
	}
	return all
}

func (w *reportWriter) columnLayout(r platform.RowColumns) layout {
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
	keys := make([]uint32, len(t.products.all))
	for number, product := range t.products.all {
		keys[number] = session.productKey(product)
	}
	l, slice, places := w.columnLayout(t.columns), w.download.reportSlice(), placeKeys{session: session, table: t}
	w.build.block.growRows(min(len(t.grains), session.blockRows))
	order := t.sortedGrains(keys)
	for len(order) > 0 {
		g := t.grains[order[0]]
		same := t.sameDay(order)
		order = order[len(same):]
		generation, claimed := w.generationOn(g.day)
		if !claimed {
			continue
		}
		rows, err := w.convertSums(l, t, same)
		if err != nil {
			return newRefusalf("day %s, product %q: %v", g.day, t.products.all[g.product], err)
		}
		for n, sums := range rows {
			if !anySum(sums) {
				continue
			}
			campaign, adGroup := places.keysOf(t.grains[same[n]].place)
			key := factKey{g.day, keys[g.product], campaign, adGroup}
			w.build.block.addFact(slice, generation, key, l.columns, sums)
		}
		if err := w.build.flushBlock(ctx, session.blockRows); err != nil {
			return err
		}
	}
	return nil
}

// placeKeys are the stored numbers of where a report's ads ran, looked up once each.
// New ones get theirs in the order of the rows that are written.
type placeKeys struct {
	session *session
	table   *table
	known   [][2]uint32 // of a campaign and an ad group, by the table's number; 0 where neither was looked up
}

func (p *placeKeys) keysOf(place uint32) (campaign, adGroup uint32) {
	if p.known == nil {
		p.known = make([][2]uint32, len(p.table.places.all))
	}
	keys := &p.known[place]
	if *keys == ([2]uint32{}) {
		of := p.table.places.all[place]
		keys[0] = p.session.entityKey(adlens.EntityID{Type: adlens.CampaignEntity, ID: of.campaign})
		keys[1] = p.session.entityKey(adlens.EntityID{Type: adlens.AdGroupEntity, ID: of.adGroup})
	}
	return keys[0], keys[1]
}

// sameDay returns the grains of the first one's day and product.
func (t *table) sameDay(order []int) []int {
	first, n := t.grains[order[0]], 1
	for n < len(order) && t.grains[order[n]].day == first.day && t.grains[order[n]].product == first.product {
		n++
	}
	return order[:n]
}

// generationOn returns the generation that a day's facts are written under, if
// the report speaks for the day.
func (w *reportWriter) generationOn(day adlens.Day) (uint32, bool) {
	u := manifest.Unit{Kind: manifest.Month, Slice: w.download.reportSlice(), Start: day.FirstOfMonth()}
	if !holdsDay(w.claims[u], day) {
		return 0, false
	}
	return w.build.units[u].entry.Generation, true
}

// convertSums are the columns of the facts of a product's day, converted. They hold
// until the next.
func (w *reportWriter) convertSums(l layout, t *table, grains []int) ([][]exact.Uint128, error) {
	rows := w.room(len(grains), len(l.columns))
	w.sums, w.own = w.sums[:0], slices.Grow(w.own[:0], len(grains))[:len(grains)]
	for _, i := range grains {
		w.sums = append(w.sums, t.sumsOf(i))
	}
	// takeColumn takes over a column as it is. The amounts have it too, where it is one.
	takeColumn := func(column int, s source) {
		place := t.placeOf(s)
		for n, sums := range w.sums {
			rows[n][column], w.own[n] = sums[place], adlens.AmountOf(sums[place])
		}
	}
	rate, _ := w.build.session.rates.At(w.download.market.Currency, t.grains[grains[0]].day) // checkRates has made sure
	for column, s := range l.headline {
		takeColumn(column, s)
		if !s.money {
			continue
		}
		if err := w.setAmounts(rows, column, w.own, rate); err != nil {
			return nil, err
		}
	}
	for e, s := range l.extras {
		column := len(headlineNames) + e
		takeColumn(column, s)
		if !s.money {
			continue
		}
		shares, ok := w.shareMicros(w.own, adlens.One)
		if !ok {
			return nil, fmt.Errorf("%s is too large an amount to be kept", t.columns.AmountColumns[s.at])
		}
		for n := range rows {
			rows[n][column] = shares[n]
		}
	}
	return rows, nil
}

// room is so many rows of so many columns.
func (w *reportWriter) room(rows, columns int) [][]exact.Uint128 {
	for len(w.rows) < rows {
		w.rows = append(w.rows, nil)
	}
	for i := range w.rows[:rows] {
		w.rows[i] = slices.Grow(w.rows[i][:0], columns)[:columns]
	}
	return w.rows[:rows]
}

func anySum(sums []exact.Uint128) bool {
	for _, s := range sums {
		if s != (exact.Uint128{}) {
			return true
		}
	}
	return false
}
