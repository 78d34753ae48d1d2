package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"adlens"
	"adlens/internal/exact"
)

// witness knows what one slice must be answered while it is restated: its
// figures follow from the generator alone, because its marketplace counts in
// US dollars.
type witness struct {
	bench    *bench
	question *question
	from, to adlens.Day

	mu           sync.Mutex
	right        map[int]expected // by version
	ended, begun int              // the last versions whose loads have ended and begun
}

// mixedError is an answer that is of none of the states that it may be of.
type mixedError struct{ err error }

func (e *mixedError) Error() string { return e.err.Error() }

func newWitness(b *bench) *witness {
	w := &witness{bench: b, from: b.shape.End - restateDays + 1, to: b.shape.End, right: map[int]expected{}}
	heavy := &b.accounts[0]
	a := &asker{shape: b.shape, account: heavy, key: b.state.Keys[heavyID]}
	a.addQuestion(products, a.customPeriod("restated", w.from, w.to), "marketplaces", heavy.markets[0].country, "ad_products", kinds[0].AdProduct.String(), "page_size", "1000")
	w.question = a.all[0]
	return w
}

// beginVersion notes that a version's load begins: from now on it may be answered.
func (w *witness) beginVersion(version int) {
	right := w.expectVersion(version)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.right[version], w.begun = right, version
}

// endVersion notes that the load has ended: nothing older may be answered now.
func (w *witness) endVersion() {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.right, w.ended-1)
	w.ended = w.begun
}

// expectVersion sums what the generator drew for a version.
func (w *witness) expectVersion(version int) expected {
	heavy := &w.bench.accounts[0]
	groups := map[string]*group{}
	for day := w.from; day <= w.to; day++ {
		w.bench.shape.drawRows(slice{heavy, 0, kinds[0]}, day, version, func(r *row) {
			g := groups[r.product.id]
			if g == nil {
				g = &group{id: r.product.id, markets: 1}
				groups[r.product.id] = g
			}
			g.sums.Add(measuresOf(r))
		})
	}
	var all []group
	for _, g := range groups {
		all = append(all, *g)
	}
	return w.question.expectAnswer(all, places{0: heavy.markets[0]})
}

// measuresOf are the measures of a row of Sponsored Products. What stands behind
// the sixth decimal of a cost is rounded away, row by row.
func measuresOf(r *row) []exact.Uint128 {
	const microsPerCent = 10_000
	var all [len(sumNames)]exact.Uint128
	for i, n := range [...]int64{r.values[0], r.values[1], r.values[kinds[0].headline[2]], r.values[2] * microsPerCent, r.values[kinds[0].headline[4]] * microsPerCent} {
		all[i].Lo = uint64(n)
	}
	return all[:]
}

// askRestated asks once and compares the answer with all states that it may be of.
func (w *witness) askRestated(ctx context.Context, who *api) error {
	w.mu.Lock()
	oldest := w.ended
	w.mu.Unlock()
	r, err := who.askQuestion(ctx, w.question)
	if err != nil {
		return err
	}
	got, err := r.lines()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if oldest == 0 {
		return nil // before the first restatement of this run has ended
	}
	err = fmt.Errorf("versions %d to %d may be answered, and none is", oldest, w.begun)
	for version := oldest; version <= w.begun; version++ {
		right, ok := w.right[version]
		if !ok {
			return nil // so slow an answer that its state is forgotten
		}
		different := firstDifference(right.shown, got)
		if different == nil {
			return nil
		}
		err = errors.Join(err, different)
	}
	return &mixedError{err}
}
