package loader

import (
	"context"
	"fmt"
	"slices"

	"adlens/internal/flight"
	"adlens/internal/manifest"
)

// Loader loads extracts into a store.
type Loader struct {
	Store    Store
	Progress Progress
}

// Load loads the extract files of the paths for an account, directories with
// all that is below them. A bad file is refused in the result and harms
// nothing; the error is of the load as a whole, whose unfinished files are
// reported as failed.
func (l *Loader) Load(ctx context.Context, account string, paths []string) (Result, error) {
	release, err := l.lock(ctx, account)
	if err != nil {
		return Result{}, err
	}
	defer release()
	files, others, done := find(paths)
	defer done()
	s := l.session(account)
	if err := s.open(ctx, s.readMarketplaces, s.readRates, s.readProducts, s.readLedger); err != nil {
		return Result{}, err
	}
	s.total, s.result.Files = len(files), others
	if err := s.load(ctx, files); err != nil {
		s.failRest(files, err)
		return s.result, err
	}
	return s.result, s.clean(ctx)
}

func (l *Loader) lock(ctx context.Context, account string) (release func() error, err error) {
	return l.Store.Lock(ctx, account, func(holder string) {
		l.Progress.Notice(fmt.Sprintf("waiting for another load of account %s (%s)", account, holder))
	})
}

// took remembers which numbers the load has reserved.
func (s *session) took(first, next uint32) {
	if s.retired.Next == 0 {
		s.retired.First = first
	}
	s.retired.Next = next
}

// clean notes what the load has made dead, and deletes what has been dead for
// long enough.
func (s *session) clean(ctx context.Context) error {
	if err := s.retire(ctx); err != nil {
		return err
	}
	return s.store.Collect(ctx, s.account, CollectAfter)
}

// retire notes what the load has made dead. After a build that was given up
// nothing is noted: what it left behind has to be looked for.
func (s *session) retire(ctx context.Context) error {
	if s.retired.Next == 0 || s.unfinished > 0 {
		return nil
	}
	return s.store.Retire(ctx, s.account, s.retired)
}

// failRest reports all files that nothing was said of yet: the load ended
// before anything of them was visible.
func (s *session) failRest(files []file, err error) {
	said := map[string]bool{}
	for _, r := range s.result.Files {
		said[r.File] = true
	}
	for _, f := range files {
		if !said[f.shown] {
			s.report(FileResult{File: f.shown, Status: Failed, Error: textOf(err)})
		}
	}
}

// session is a load's view of the account. It is the account's only writer.
type session struct {
	store    Store
	progress Progress
	account  string

	manifest      manifest.Manifest
	markets       []Marketplace
	rates         Rates
	products      map[string]uint32
	newProducts   map[string]uint32 // of products, those that the store has not got yet
	lastProduct   uint32
	ledger        map[LedgerKey]bool // as it was at the beginning
	loadedReports map[string]bool    // of ledger
	noted         map[LedgerKey]bool // by this load

	retired    Retired
	unfinished int // builds that were begun and are not live

	result      Result
	done, total int
}

func (l *Loader) session(account string) *session {
	return &session{store: l.Store, progress: l.Progress, account: account,
		loadedReports: map[string]bool{}, noted: map[LedgerKey]bool{}, newProducts: map[string]uint32{}}
}

// open reads what the load has to know, beside the look whether the account is
// whole. The manifest says where the rest stands.
func (s *session) open(ctx context.Context, reads ...func(context.Context) error) error {
	return flight.Together(
		func() error { return s.store.Buildable(ctx, s.account) },
		func() error {
			if err := s.readManifest(ctx); err != nil {
				return err
			}
			steps := make([]func() error, len(reads))
			for i, read := range reads {
				steps[i] = func() error { return read(ctx) }
			}
			return flight.Together(steps...)
		})
}

func (s *session) readManifest(ctx context.Context) (err error) {
	s.manifest, err = s.store.Manifest(ctx, s.account)
	return err
}

func (s *session) readMarketplaces(ctx context.Context) (err error) {
	s.markets, err = s.store.Marketplaces(ctx, s.account, s.manifest.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	return err
}

func (s *session) readRates(ctx context.Context) (err error) {
	s.rates, err = s.store.Rates(ctx, s.account, s.manifest.Generation(manifest.Unit{Kind: manifest.Rates}))
	return err
}

func (s *session) readProducts(ctx context.Context) (err error) {
	s.products, err = s.store.ProductKeys(ctx, s.account)
	for _, key := range s.products {
		s.lastProduct = max(s.lastProduct, key)
	}
	return err
}

func (s *session) readLedger(ctx context.Context) (err error) {
	s.ledger, err = s.store.Ledger(ctx, s.account)
	for line := range s.ledger {
		s.loadedReports[line.ReportID] = true
	}
	return err
}

func (s *session) marketplace(profileID string) (Marketplace, bool) {
	i := slices.IndexFunc(s.markets, func(m Marketplace) bool { return m.ID == profileID })
	if i < 0 {
		return Marketplace{}, false
	}
	return s.markets[i], true
}

// singles load the files that are each a load of its own.
var singles = map[kind]func(*session, context.Context, file) (rows int, changed bool, err error){
	kindProfiles: (*session).profiles, kindRates: (*session).loadRates, kindTitles: (*session).titles, kindExport: (*session).export,
	kindRules: loadRecords(rules), kindRuleRuns: loadRecords(ruleRuns), kindActivity: loadRecords(activity),
}

// load takes the files in their order: what later files need comes first.
func (s *session) load(ctx context.Context, files []file) error {
	for len(files) > 0 {
		n, err := s.loadNext(ctx, files)
		if err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

// loadNext loads the first file, reports all together: newer ones of them tell
// what of the older ones is needed.
func (s *session) loadNext(ctx context.Context, files []file) (n int, err error) {
	if files[0].kind != kindReport {
		return 1, s.single(ctx, files[0], singles[files[0].kind])
	}
	for n < len(files) && files[n].kind == kindReport {
		n++
	}
	return n, s.reports(ctx, files[:n])
}

// single loads a file that is a load of its own.
func (s *session) single(ctx context.Context, f file, load func(*session, context.Context, file) (rows int, changed bool, err error)) error {
	s.step(f)
	rows, changed, err := load(s, ctx, f)
	switch {
	case isRefusal(err):
		s.refuse(f, err)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", f.shown, err)
	}
	s.report(FileResult{File: f.shown, Status: statusOf(changed), Rows: rows})
	return nil
}

func statusOf(changed bool) Status {
	if changed {
		return Loaded
	}
	return Unchanged
}

func textOf(err error) *string {
	text := err.Error()
	return &text
}

func (s *session) step(f file) {
	s.progress.Step(f.shown, s.done, s.total)
	s.done++
}

func (s *session) report(r FileResult) { s.result.Files = append(s.result.Files, r) }

func (s *session) refuse(f file, err error) { s.report(refused(f.shown, err)) }

// record reports the files of a load that is visible now, and notes them in
// the ledger.
func (s *session) record(ctx context.Context, all []taken) error {
	var lines []LedgerLine
	for _, t := range all {
		s.report(FileResult{File: t.file.shown, Status: statusOf(t.claimed), Rows: t.rows})
		if !s.ledger[t.key] && !s.noted[t.key] {
			lines = append(lines, LedgerLine{LedgerKey: t.key, File: t.file.shown, Rows: uint64(t.rows)})
			s.noted[t.key] = true
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return s.store.InsertLedger(ctx, s.account, lines)
}

// publishUnit makes a unit live whose rows write puts under a new generation.
func (s *session) publishUnit(ctx context.Context, b *build, kind manifest.Kind, write func(generation uint32) error) error {
	ub, err := b.unit(ctx, manifest.Unit{Kind: kind})
	if err != nil {
		return err
	}
	if err := write(ub.entry.Generation); err != nil {
		return err
	}
	return b.commit(ctx)
}
