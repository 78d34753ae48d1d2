package loader

import (
	"context"
	"fmt"
	"io"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
)

// overlayRates is how files of rates are loaded that read reads.
func overlayRates(read func(io.Reader) (Rates, int, error)) overlay[Rates] {
	return overlay[Rates]{
		read: func(s *session, _ context.Context) (Rates, error) { return s.rates, nil },
		put: func(s *session, f file, over Rates) (next Rates, rows int, err error) {
			var added Rates
			var text endingText
			err = f.readUnpacked(f.name, func(content io.Reader) (err error) {
				text.Reader = content
				added, rows, err = read(&text)
				return err
			})
			if err != nil {
				return over, rows, err
			}
			s.noteCut(f, text.last, "")
			next, _ = over.With(added)
			s.noteFile(f, over.describeOdd(added.ByHand, s.ownCurrencies()))
			return next, rows, nil
		},
		same: func(before, next Rates) (bool, error) {
			_, changed := before.With(next) // which has all of before
			return !changed, nil
		},
		publish: (*session).putRates,
	}
}

// ownCurrencies are those of the account's marketplaces.
func (s *session) ownCurrencies() map[string]bool {
	own := map[string]bool{}
	for _, m := range s.markets {
		own[m.Currency] = true
	}
	return own
}

// putRates makes rates visible. Figures are a function of the loaded files, so a new or
// changed rate converts again every held day that it touches, in the same load.
func (s *session) putRates(ctx context.Context, next Rates) error {
	b := s.newBuild()
	b.rates = next
	defer b.awaitBlock() // nothing is written for a load that has ended
	if err := b.reconvertDays(ctx); err != nil {
		return err
	}
	err := s.publishUnit(ctx, b, manifest.Rates, next.countRates(), func(generation uint32) error {
		return s.store.InsertRates(ctx, s.account, generation, next)
	})
	if err == nil {
		s.rates = next
	}
	return err
}

// reconvertDays writes the held days again whose rate is another now.
func (b *build) reconvertDays(ctx context.Context) error {
	for _, e := range b.session.Manifest().Of(manifest.Month) {
		if e.Slice.AdProduct == manifest.LegacyCounted {
			continue // it follows from the others
		}
		currency := b.session.currencyOf(e.Slice.Marketplace)
		touched := touchedDays(e, currency, b.session.rates, b.rates)
		if touched == 0 {
			continue
		}
		if err := b.reconvertUnit(ctx, e, touched, currency); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) currencyOf(key uint16) string {
	for _, m := range s.markets {
		if m.Key == key {
			return m.Currency
		}
	}
	return ""
}

func touchedDays(e manifest.Entry, currency string, before, after Rates) manifest.Days {
	var touched manifest.Days
	for day := e.Start; day <= e.Start.LastOfMonth(); day++ {
		was, _ := before.At(currency, day)
		if is, _ := after.At(currency, day); holdsDay(e.Held(), day) && was != is {
			touched |= manifest.DaysBetween(day, day)
		}
	}
	return touched
}

func (b *build) reconvertUnit(ctx context.Context, e manifest.Entry, days manifest.Days, currency string) error {
	ub, err := b.beginUnit(ctx, e.Unit)
	if err != nil {
		return err
	}
	ub.replaced |= days
	b.derives = true
	c := reconverter{build: b, ub: ub, currency: currency, columns: b.block.ensureColumns(catalogue.Extra), ids: b.session.entityIDs()}
	err = b.session.store.Facts(ctx, b.session.account, e.Unit, e.Generation, days, func(f *StoredFact) error { return c.sumFact(ctx, f) })
	if err != nil {
		return err
	}
	return c.flushSums(ctx)
}

// reconverter gathers the stored rows of a product's day, whose sums are converted
// together as they were the first time.
type reconverter struct {
	build    *build
	ub       *unitBuild
	currency string
	columns  []int    // of the build's block
	ids      []string // of entities by their numbers

	rows []keyedSums // of one day and product
}

// keyedSums are the sums of the columns of one fact.
type keyedSums struct {
	factKey
	sums []exact.Uint128
}

func (c *reconverter) sumFact(ctx context.Context, f *StoredFact) error {
	if n := len(c.rows); n > 0 && (c.rows[0].day != f.Day || c.rows[0].product != f.Product) {
		if err := c.flushSums(ctx); err != nil {
			return err
		}
	}
	c.rows = addStored(c.rows, f)
	return nil
}

// addStored adds a stored row to the sums of its key, which come in order.
func addStored(rows []keyedSums, f *StoredFact) []keyedSums {
	key := factKey{f.Day, f.Product, f.Campaign, f.AdGroup}
	if n := len(rows); n == 0 || rows[n-1].factKey != key {
		rows = append(rows, keyedSums{key, make([]exact.Uint128, len(f.Values))})
	}
	sums := rows[len(rows)-1].sums
	for i, v := range f.Values {
		sums[i], _ = sums[i].Add(exact.Uint128{Lo: v})
	}
	return rows
}

func (c *reconverter) flushSums(ctx context.Context) error {
	if len(c.rows) == 0 {
		return nil
	}
	first := c.rows[0]
	rate, err := c.build.heldRate(c.currency, first.day)
	if err != nil {
		return err
	}
	if err := convertStored(c.rows, c.ids, rate); err != nil {
		return err
	}
	for _, r := range c.rows {
		c.ub.source.Source.Add(r.ownSums())
		c.build.block.addFact(c.ub.entry.Slice, c.ub.entry.Generation, r.factKey, c.columns, r.sums)
	}
	c.rows = c.rows[:0]
	return c.build.flushBlock(ctx, c.build.session.blockRows)
}

// heldRate is the rate of a day that is held, and so was converted before.
func (b *build) heldRate(currency string, day adlens.Day) (adlens.Amount, error) {
	rate, ok := b.rates.At(currency, day)
	if !ok {
		return rate, fmt.Errorf("no rate for %s on %s, which is held", currency, day)
	}
	return rate, nil
}

// convertStored converts the stored rows of a product's day together, and puts them
// in the order of their places.
func convertStored(rows []keyedSums, ids []string, rate adlens.Amount) error {
	placeOf := func(k factKey) adPlace { return adPlace{ids[k.campaign], ids[k.adGroup]} }
	slices.SortFunc(rows, func(a, b keyedSums) int { return comparePlaces(placeOf(a.factKey), placeOf(b.factKey)) })
	all := make([][]exact.Uint128, len(rows))
	for i, r := range rows {
		all[i] = r.sums
	}
	var shared sharer
	for column, m := range catalogue.Headline {
		if !m.IsAmount() {
			continue
		}
		own := make([]adlens.Amount, len(rows))
		for i, r := range rows {
			var ok bool
			if own[i], ok = r.ownAmount(column); !ok {
				return fmt.Errorf("the stored %s of day %s and product key %d is too large", headlineNames[column], r.day, r.product)
			}
		}
		if err := shared.setAmounts(all, column, own, rate); err != nil {
			return err
		}
	}
	return nil
}

// ownAmount is an amount of the headline in the marketplace's own currency.
func (r keyedSums) ownAmount(column int) (adlens.Amount, bool) {
	at := headlineOwn[column]
	return adlens.FromMicros(r.sums[at.micros], r.sums[at.rest].Lo)
}

// ownSums are the sums of the headline as reports give them.
func (r keyedSums) ownSums() []exact.Uint128 {
	sums := slices.Clone(r.sums[:measures])
	for column, m := range catalogue.Headline {
		if m.IsAmount() {
			own, _ := r.ownAmount(column) // convertStored has made sure
			sums[column] = own.Units()
		}
	}
	return sums
}
