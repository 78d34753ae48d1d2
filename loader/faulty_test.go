package loader_test

import (
	"context"
	"errors"
	"sync"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/records"
	"adlens/internal/tables"
	"adlens/loader"
)

var errFault = errors.New("the store fails here")

// fault says how a call fails.
type fault int

const (
	notDone    fault = iota // it did nothing
	answerLost              // it did all, and its answer was lost
	cancelled               // the caller went away just before
)

func (f fault) String() string { return [...]string{"not done", "answer lost", "cancelled"}[f] }

// faulty is a store that fails at one of its calls.
type faulty struct {
	store  loader.Store
	fault  fault
	at     int    // the number of the call that fails, from 1
	on     string // or its name
	cancel context.CancelFunc

	mu    sync.Mutex
	calls int
	name  string // of the call that failed
	named bool   // the units of a commit were written before it
	units bool   // they are written now
}

// failsNow counts a call, and reports whether it is the one that fails.
func (f *faulty) failsNow(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	fails := f.calls == f.at || name == f.on
	if fails {
		f.name, f.named = name, f.units
	}
	f.units = f.units || name == "Units.Append"
	return fails
}

func call[T any](f *faulty, name string, do func() (T, error)) (T, error) {
	if !f.failsNow(name) {
		return do()
	}
	switch f.fault {
	case cancelled:
		f.cancel()
		return do()
	case answerLost:
		value, err := do()
		return value, errors.Join(err, errFault)
	}
	var none T
	return none, errFault
}

func act(f *faulty, name string, do func() error) error {
	_, err := call(f, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (f *faulty) Lock(ctx context.Context, account string, waiting func(string)) (func() error, error) {
	release, err := call(f, "Lock", func() (func() error, error) { return f.store.Lock(ctx, account, waiting) })
	if err != nil && release != nil {
		err = errors.Join(err, release()) // nothing else would
	}
	return release, err
}

func (f *faulty) Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error) {
	return call(f, "Marketplaces", func() ([]loader.Marketplace, error) { return f.store.Marketplaces(ctx, account, generation) })
}

func (f *faulty) InsertMarketplaces(ctx context.Context, account string, generation uint32, all []loader.Marketplace) error {
	return act(f, "InsertMarketplaces", func() error { return f.store.InsertMarketplaces(ctx, account, generation, all) })
}

// ProfilesElsewhere has no faults: all that follows from it is a notice.
func (f *faulty) ProfilesElsewhere(ctx context.Context, account string, profiles []string) ([]loader.ProfileHolder, error) {
	return f.store.ProfilesElsewhere(ctx, account, profiles)
}

func (f *faulty) Rates(ctx context.Context, account string, generation uint32) (loader.Rates, error) {
	return call(f, "Rates", func() (loader.Rates, error) { return f.store.Rates(ctx, account, generation) })
}

func (f *faulty) InsertRates(ctx context.Context, account string, generation uint32, all loader.Rates) error {
	return act(f, "InsertRates", func() error { return f.store.InsertRates(ctx, account, generation, all) })
}

func (f *faulty) Titles(ctx context.Context, account string, generation uint32) (map[string]string, error) {
	return call(f, "Titles", func() (map[string]string, error) { return f.store.Titles(ctx, account, generation) })
}

func (f *faulty) InsertTitles(ctx context.Context, account string, generation uint32, all map[string]string) error {
	return act(f, "InsertTitles", func() error { return f.store.InsertTitles(ctx, account, generation, all) })
}

func (f *faulty) ProductNumbers(ctx context.Context, account string, generation uint32) (map[string]uint32, error) {
	return call(f, "ProductNumbers", func() (map[string]uint32, error) { return f.store.ProductNumbers(ctx, account, generation) })
}

func (f *faulty) InsertProductNumbers(ctx context.Context, account string, generation uint32, all map[string]uint32) error {
	return act(f, "InsertProductNumbers", func() error { return f.store.InsertProductNumbers(ctx, account, generation, all) })
}

func (f *faulty) Entities(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]*loader.Entity, error) {
	return call(f, "Entities", func() (map[adlens.EntityID]*loader.Entity, error) {
		return f.store.Entities(ctx, account, generation)
	})
}

func (f *faulty) ListedNames(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]string, error) {
	return call(f, "ListedNames", func() (map[adlens.EntityID]string, error) {
		return f.store.ListedNames(ctx, account, generation)
	})
}

func (f *faulty) Forms(ctx context.Context, account string, generation uint32) (loader.Forms, error) {
	return call(f, "Forms", func() (loader.Forms, error) { return f.store.Forms(ctx, account, generation) })
}

func (f *faulty) InsertForms(ctx context.Context, account string, generation uint32, all loader.Forms) error {
	return act(f, "InsertForms", func() error { return f.store.InsertForms(ctx, account, generation, all) })
}

func (f *faulty) InsertEntities(ctx context.Context, account string, generation uint32, all map[adlens.EntityID]*loader.Entity) error {
	return act(f, "InsertEntities", func() error { return f.store.InsertEntities(ctx, account, generation, all) })
}

func (f *faulty) InsertFacts(ctx context.Context, account string, batch *loader.Batch) error {
	return act(f, "InsertFacts", func() error { return f.store.InsertFacts(ctx, account, batch) })
}

func (f *faulty) Facts(ctx context.Context, account string, unit manifest.Unit, generation uint32, days manifest.Days, visit func(*loader.StoredFact) error) error {
	return act(f, "Facts", func() error { return f.store.Facts(ctx, account, unit, generation, days, visit) })
}

func (f *faulty) CountFacts(ctx context.Context, account string, generations []uint32) ([]tables.Count, error) {
	return call(f, "CountFacts", func() ([]tables.Count, error) { return f.store.CountFacts(ctx, account, generations) })
}

func (f *faulty) CopyDays(ctx context.Context, account string, copies []loader.Copy) error {
	return act(f, "CopyDays", func() error { return f.store.CopyDays(ctx, account, copies) })
}

func (f *faulty) Derive(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	return act(f, "Derive", func() error { return f.store.Derive(ctx, account, months, years) })
}

func (f *faulty) Sums(ctx context.Context, account string, months []manifest.Entry, copies []loader.Copy, years []loader.YearParts) (map[loader.Level]loader.Sums, error) {
	return call(f, "Sums", func() (map[loader.Level]loader.Sums, error) { return f.store.Sums(ctx, account, months, copies, years) })
}

func (f *faulty) Ledger(ctx context.Context, account string) (map[loader.LedgerKey]bool, error) {
	return call(f, "Ledger", func() (map[loader.LedgerKey]bool, error) { return f.store.Ledger(ctx, account) })
}

func (f *faulty) InsertLedger(ctx context.Context, account string, lines []loader.LedgerLine) error {
	return act(f, "InsertLedger", func() error { return f.store.InsertLedger(ctx, account, lines) })
}

func (f *faulty) InsertCampaigns(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Campaign) error {
	return act(f, "InsertCampaigns", func() error { return f.store.InsertCampaigns(ctx, account, marketplace, generations, all) })
}

func (f *faulty) InsertAdGroups(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.AdGroup) error {
	return act(f, "InsertAdGroups", func() error { return f.store.InsertAdGroups(ctx, account, marketplace, generations, all) })
}

func (f *faulty) InsertAds(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Ad) error {
	return act(f, "InsertAds", func() error { return f.store.InsertAds(ctx, account, marketplace, generations, all) })
}

func (f *faulty) Rules(ctx context.Context, account string, generation uint32) ([]records.Rule, error) {
	return call(f, "Rules", func() ([]records.Rule, error) { return f.store.Rules(ctx, account, generation) })
}

func (f *faulty) InsertRules(ctx context.Context, account string, generation uint32, all []records.Rule) error {
	return act(f, "InsertRules", func() error { return f.store.InsertRules(ctx, account, generation, all) })
}

func (f *faulty) RuleRuns(ctx context.Context, account string, generation uint32) ([]records.RuleRun, error) {
	return call(f, "RuleRuns", func() ([]records.RuleRun, error) { return f.store.RuleRuns(ctx, account, generation) })
}

func (f *faulty) InsertRuleRuns(ctx context.Context, account string, generation uint32, all []records.RuleRun) error {
	return act(f, "InsertRuleRuns", func() error { return f.store.InsertRuleRuns(ctx, account, generation, all) })
}

func (f *faulty) Activity(ctx context.Context, account string, generation uint32) ([]records.Activity, error) {
	return call(f, "Activity", func() ([]records.Activity, error) { return f.store.Activity(ctx, account, generation) })
}

func (f *faulty) InsertActivity(ctx context.Context, account string, generation uint32, all []records.Activity) error {
	return act(f, "InsertActivity", func() error { return f.store.InsertActivity(ctx, account, generation, all) })
}
