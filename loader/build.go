package loader

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"adlens/internal/flight"
	"adlens/internal/manifest"
)

// build is one load on its way: new generations of some units, invisible
// until commit.
type build struct {
	session *session
	version uint32 // the number of its commit; 0 until something is begun
	units   map[manifest.Unit]*unitBuild
	block   Batch
	passed  Batch      // the block before, which the store takes
	taking  chan error // what comes of that; nil once it is known
	rows    int
	rates   Rates // that the load converts at
	derives bool  // facts of a live month were read, and others are made of them

	relisted map[uint16]bool     // marketplaces of whose campaigns more count than before
	withheld map[string]withheld // what of legacy reports does not count, by their ids
}

// unitBuild is the new generation of one unit.
type unitBuild struct {
	entry    manifest.Entry
	replaced manifest.Days  // days whose rows are written again
	before   manifest.Entry // the live generation, if any; its other days are copied
	source   Sums           // what the written rows must add up to
}

func (s *session) newBuild() *build {
	return &build{session: s, rates: s.rates, units: map[manifest.Unit]*unitBuild{}, relisted: map[uint16]bool{}, withheld: map[string]withheld{}}
}

// ensureVersion makes sure that the load has a version. It is smaller than every
// generation of the load and greater than every one before.
func (b *build) ensureVersion(ctx context.Context) (err error) {
	if b.version != 0 {
		return nil
	}
	if err := b.session.requireWhole(); err != nil {
		return err
	}
	b.version, err = b.session.BeginCommit(ctx)
	return err
}

// beginUnit returns the new generation of a unit, begun where it was not.
func (b *build) beginUnit(ctx context.Context, u manifest.Unit) (*unitBuild, error) {
	if ub, ok := b.units[u]; ok {
		return ub, nil
	}
	if err := b.ensureVersion(ctx); err != nil {
		return nil, err
	}
	generation, err := b.session.Number(ctx)
	if err != nil {
		return nil, err
	}
	before, _ := b.session.Manifest().Find(u)
	ub := &unitBuild{before: before, entry: manifest.Entry{Unit: u, Generation: generation, Sources: slices.Clone(before.Sources)}}
	b.units[u] = ub
	return ub, nil
}

// entryOf returns the entry of a unit as it is with this load so far, else as it is live;
// of neither, its generation is 0.
func (b *build) entryOf(u manifest.Unit) manifest.Entry {
	if ub, ok := b.units[u]; ok {
		return ub.entry
	}
	e, _ := b.session.Manifest().Find(u)
	return e
}

// claimDays gives days of the unit to a report.
func (ub *unitBuild) claimDays(s manifest.Source) {
	var kept []manifest.Source
	for _, old := range ub.entry.Sources {
		if old.Days &^= s.Days; old.Days != 0 {
			kept = append(kept, old)
		}
	}
	ub.entry.Sources = append(kept, s)
	slices.SortFunc(ub.entry.Sources, func(x, y manifest.Source) int {
		return cmp.Or(x.GeneratedAt.Compare(y.GeneratedAt), strings.Compare(x.ReportID, y.ReportID))
	})
	ub.replaced |= s.Days
}

// flushBlock passes a block of so many rows or more on to the store, which takes it
// while the next one is filled.
func (b *build) flushBlock(ctx context.Context, atLeast int) error {
	if b.block.Rows() < atLeast {
		return nil
	}
	if err := b.awaitBlock(); err != nil {
		return err
	}
	b.block.padColumns()
	b.rows += b.block.Rows()
	b.block, b.passed = b.passed, b.block
	b.block.clearRows()
	b.block.takeColumns(&b.passed)
	taking := make(chan error, 1)
	b.taking = taking
	go func() {
		taking <- flight.Together(func() error { return b.session.store.InsertFacts(ctx, b.session.account, &b.passed) })
	}()
	return nil
}

// awaitBlock waits until the store has taken the block that was passed on last.
func (b *build) awaitBlock() error {
	if b.taking == nil {
		return nil
	}
	err := <-b.taking
	b.taking = nil
	return err
}

// flushRows passes on what is left, and waits for the store.
func (b *build) flushRows(ctx context.Context) error {
	if err := b.flushBlock(ctx, 1); err != nil {
		return err
	}
	return b.awaitBlock()
}

// productKey returns the stored number of a product, a new one where it has
// none yet.
func (s *session) productKey(product string) uint32 {
	if product == "" {
		return 0
	}
	key, ok := s.products[product]
	if !ok {
		key = uint32(len(s.products) + 1)
		s.products[product] = key
		s.newProducts = true
	}
	return key
}

// beginNumbers begins the new generation of the numbers of what facts are of, where
// the load has new ones. It is live with the facts that use them or not at all.
func (b *build) beginNumbers(ctx context.Context, kind manifest.Kind, changed bool, rows int) (*unitBuild, error) {
	if !changed {
		return nil, nil
	}
	ub, err := b.beginUnit(ctx, manifest.Unit{Kind: kind})
	if err == nil {
		ub.entry.Rows = uint64(rows)
	}
	return ub, err
}

// writeNumbers stores all numbers under a generation of theirs, if one was begun.
func writeNumbers(ub *unitBuild, insert func(generation uint32) error) error {
	if ub == nil {
		return nil
	}
	return insert(ub.entry.Generation)
}
