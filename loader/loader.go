package loader

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Loader loads extracts into a store.
type Loader struct {
	Store    Store
	Progress Progress
	// Token returns what tells this load apart from any other; nil for random
	// letters.
	Token func() string

	// BlockRows is how many rows of facts go to the store at a time, about; 0 is
	// 100,000.
	BlockRows int

	// CommitRows is how many rows of facts become visible at a time, about, so that a
	// crash in the middle of a long load loses minutes at most; 0 is 2,000,000.
	CommitRows int

	// What reports of the console do not say themselves: their profile, "" for the
	// only one that fits, and when they were generated, zero for what the file
	// says or else its own time.
	Profile     string
	GeneratedAt time.Time

	// Whole says that all files which are to come are among those of a load: days between
	// others that none covers are told of.
	Whole bool
}

// Load loads the extract files of the paths for an account, directories with
// all that is below them. A bad file is refused in the result and harms
// nothing; the error is of the load as a whole, whose unfinished files are
// reported as failed.
func (l *Loader) Load(ctx context.Context, account string, paths []string) (Result, error) {
	release, err := l.lockAccount(ctx, account)
	if err != nil {
		return Result{}, err
	}
	defer release()
	files, others, done := findFiles(paths)
	defer done()
	s, err := l.openSession(ctx, account)
	if err != nil {
		return Result{}, err
	}
	defer s.counting.Wait()
	if err := s.readAccount(ctx, inTurn(s.readProducts, s.readEntities), inTurn(s.readLedger, s.readMarketplaces, s.readRates, s.readForms)); err != nil {
		return Result{}, err
	}
	s.total, s.result.Files = len(files), others
	if err := s.loadFiles(ctx, files); err != nil {
		if adlens.KindOf(err) == adlens.Damaged {
			err = nameLosses(s.requireWhole(), err)
		}
		s.failRest(files, err)
		return s.result, err
	}
	return s.result, s.closeSession(ctx)
}

func (l *Loader) lockAccount(ctx context.Context, account string) (release func() error, err error) {
	return l.Store.Lock(ctx, account, func(holder string) {
		l.Progress.Notice(fmt.Sprintf("waiting for another load of account %s (%s)", account, holder))
	})
}

// collectBatches is how many times longer than needed a load leaves dead rows,
// so that what many loads leave is deleted in one go.
const collectBatches = 4

// closeSession says what became of the load's numbers, and deletes what has been dead
// for long enough.
func (s *session) closeSession(ctx context.Context) error {
	if err := s.requireWhole(); err != nil {
		return err
	}
	if err := s.End(ctx); err != nil {
		return err
	}
	return flight.Together(func() error {
		return s.Trim(ctx, CollectAfter)
	}, func() error {
		return commits.DeleteDead(ctx, s.store.Tables(), s.account, CollectAfter, collectBatches*CollectAfter)
	})
}

// Collect clears up after the loads of all accounts that did not end well, and
// deletes rows that have been dead for some time. A damaged account is left as
// it is, and one that is being loaded to its load; neither keeps another from this.
func (l *Loader) Collect(ctx context.Context, after time.Duration) error {
	accounts, err := commits.Unsettled(ctx, l.Store.Tables())
	if err != nil {
		return err
	}
	for _, account := range accounts {
		release, free, err := l.lockFree(ctx, account)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		if err := errors.Join(l.settleAccount(ctx, account), release()); err != nil && adlens.KindOf(err) != adlens.Damaged {
			return err
		}
	}
	return commits.DeleteDead(ctx, l.Store.Tables(), "", after, after)
}

// lockFree locks an account unless that is locked already: a load may take hours.
func (l *Loader) lockFree(ctx context.Context, account string) (release func() error, free bool, err error) {
	trying, stop := context.WithCancel(ctx)
	defer stop()
	release, err = l.Store.Lock(trying, account, func(string) { stop() })
	if trying.Err() != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		return nil, false, nil
	}
	return release, err == nil, err
}

// settleAccount clears up after a load that did not end well. The caller holds the
// account's lock.
func (l *Loader) settleAccount(ctx context.Context, account string) error {
	writer, err := l.beginWriter(ctx, account)
	if err != nil {
		return err
	}
	return writer.End(ctx)
}

// failRest reports all files that are not reported yet: the load ended before
// anything of them was visible, or before that could be known.
func (s *session) failRest(files []file, err error) {
	said := map[string]bool{}
	for _, r := range s.result.Files {
		said[r.File] = true
	}
	for _, f := range files {
		if !said[f.shown] {
			s.addResult(FileResult{File: f.shown, Status: Failed, Error: new(err.Error())})
		}
	}
}

// session is a load's view of the account. It is the account's only writer.
type session struct {
	*commits.Session
	store    Store
	progress Progress
	account  string
	counting sync.WaitGroup // of what is stored of the account

	blockRows   int
	commitRows  int
	profile     string    // of reports of the console; "" where none was named
	generatedAt time.Time // likewise
	whole       bool      // likewise

	markets       []Marketplace
	rates         Rates
	products      map[string]uint32
	newProducts   bool // some of products are not stored yet
	entities      map[adlens.EntityID]*Entity
	newEntities   bool               // likewise
	forms         Forms              // of campaigns that lists said
	ledger        map[LedgerKey]bool // as it was at the beginning
	loadedReports map[string]bool    // of ledger
	noted         map[LedgerKey]bool // by this load
	formerReports map[string]bool    // live, and loaded when their columns were not noted

	// requireWhole refuses an account that lost commits or rows: what a load takes over
	// of it would be believed from then on.
	requireWhole func() error

	result  Result
	notices map[string]string // of files, by their shown names

	profileFiles map[string]file // the first of the load with each profile
	done, total  int
}

// openSession begins a session on an account whose lock the caller holds.
func (l *Loader) openSession(ctx context.Context, account string) (*session, error) {
	writer, err := l.beginWriter(ctx, account)
	if err != nil {
		return nil, err
	}
	return &session{Session: writer, store: l.Store, progress: l.Progress, account: account, blockRows: cmp.Or(l.BlockRows, 100_000), commitRows: cmp.Or(l.CommitRows, 2_000_000), profile: l.Profile, generatedAt: l.GeneratedAt, whole: l.Whole,
		loadedReports: map[string]bool{}, noted: map[LedgerKey]bool{}, notices: map[string]string{}, profileFiles: map[string]file{}}, nil
}

func (l *Loader) beginWriter(ctx context.Context, account string) (*commits.Session, error) {
	token := rand.Text
	if l.Token != nil {
		token = l.Token
	}
	return commits.Begin(ctx, l.Store.Tables(), account, token())
}

// readAccount reads what the load has to know, while what is stored of the account is
// counted. That takes longer, and files are read meanwhile.
func (s *session) readAccount(ctx context.Context, reads ...func(context.Context) error) error {
	s.countAccount(ctx, tables.OfGenerations())
	var steps []func() error
	for _, read := range reads {
		steps = append(steps, func() error { return read(ctx) })
	}
	if err := flight.Together(steps...); err != nil {
		return nameLosses(s.requireWhole(), err)
	}
	return nil
}

// nameLosses returns the error that names all that an account lost, where there is one
// beside that of a single read.
func nameLosses(all, one error) error {
	if adlens.KindOf(all) == adlens.Damaged {
		return all
	}
	return one
}

// inTurn reads one after the other: each that reads at the same time costs a connection
// of its own, which takes longer than a small table.
func inTurn(reads ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, read := range reads {
			if err := read(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// countAccount counts the rows of some tables. Until they were found to be all, which
// requireWhole waits for, the session takes no number and writes nothing.
func (s *session) countAccount(ctx context.Context, of []string) {
	var seals []tables.Seal
	var counts []tables.Count
	var failed error
	s.counting.Go(func() {
		failed = flight.Together(func() (err error) {
			seals, err = s.store.Tables().Seals().Read(ctx, s.account)
			return err
		}, func() (err error) {
			counts, err = s.store.Tables().CountRows(ctx, s.account, of...)
			return err
		})
	})
	s.requireWhole = sync.OnceValue(func() error {
		if s.counting.Wait(); failed != nil {
			return failed
		}
		return s.RequireWhole(ctx, seals, counts, of...)
	})
}

// readUnit reads a unit of the account as a whole. A load builds on what it reads, and an
// engine may have lost rows, and restarted, since they were counted: fewer are refused.
func readUnit[R any](ctx context.Context, s *session, kind manifest.Kind, read func(context.Context, string, uint32) (R, error), rowsOf func(R) int) (R, error) {
	entry, live := s.Manifest().Find(manifest.Unit{Kind: kind})
	all, err := read(ctx, s.account, entry.Generation)
	if err == nil && live {
		table := tables.OfKind(kind)[0]
		count := tables.Count{Table: table, Generation: entry.Generation, Rows: uint64(rowsOf(all))}
		err = s.RequireRows(ctx, []manifest.Entry{entry}, []tables.Count{count}, table)
	}
	return all, err
}

func (s *session) readMarketplaces(ctx context.Context) (err error) {
	s.markets, err = readUnit(ctx, s, manifest.Marketplaces, s.store.Marketplaces, func(all []Marketplace) int { return len(all) })
	return err
}

func (s *session) readRates(ctx context.Context) (err error) {
	s.rates, err = readUnit(ctx, s, manifest.Rates, s.store.Rates, Rates.countRates)
	s.rates.dateFetched()
	return err
}

func (s *session) readProducts(ctx context.Context) (err error) {
	s.products, err = readUnit(ctx, s, manifest.Products, s.store.ProductNumbers, func(all map[string]uint32) int { return len(all) })
	return err
}

func (s *session) readEntities(ctx context.Context) (err error) {
	s.entities, err = readUnit(ctx, s, manifest.Entities, s.store.Entities, func(all map[adlens.EntityID]*Entity) int { return len(all) })
	return err
}

// requireEntities reads the entities where the session has not yet.
func (s *session) requireEntities(ctx context.Context) error {
	if s.entities != nil {
		return nil
	}
	return s.readEntities(ctx)
}

func (s *session) readForms(ctx context.Context) (err error) {
	s.forms = Forms{}
	if s.Manifest().Generation(manifest.Unit{Kind: manifest.Forms}) != 0 {
		s.forms, err = readUnit(ctx, s, manifest.Forms, s.store.Forms, func(all Forms) int { return len(all) })
	}
	return err
}

// readLedger reads which reports were loaded. They are noted after they are live. Where
// nothing is live, they would be taken for loaded and nothing would answer them: versions
// that let an account be added after an interrupted restore have left such accounts.
func (s *session) readLedger(ctx context.Context) (err error) {
	if s.ledger, err = s.store.Ledger(ctx, s.account); err != nil {
		return err
	}
	for line := range s.ledger {
		s.loadedReports[line.ReportID] = true
	}
	left := len(s.loadedReports)
	if left == 0 || s.Manifest().Len() > 0 {
		return nil
	}
	if err := s.Confirm(ctx); err != nil { // another writer's notes are of what it has loaded meanwhile
		return err
	}
	return fmt.Errorf("account %s has %d %s noted as loaded, and nothing of it is live, as after a restore that was interrupted: %s", s.account, left, plural(left, "report"), RestoreElsewhere)
}

// RestoreElsewhere says what to do about an account that has notes of loads and nothing
// that was loaded.
const RestoreElsewhere = "restore the backup, or load the extracts, into a new data directory or database"

func (s *session) findMarketplace(profileID string) (Marketplace, bool) {
	i := slices.IndexFunc(s.markets, func(m Marketplace) bool { return m.ID == profileID })
	if i < 0 {
		return Marketplace{}, false
	}
	return s.markets[i], true
}

// requireMarketplace is findMarketplace for a file whose profile has to be known.
func (s *session) requireMarketplace(profileID string) (Marketplace, error) {
	market, ok := s.findMarketplace(profileID)
	if !ok {
		return market, newRefusalf("profileId is %s, expected a profile of the account (load its profiles.json first)", profileID)
	}
	return market, nil
}

// loadFiles takes the files in their order: what later files need comes first.
func (s *session) loadFiles(ctx context.Context, files []file) error {
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
// what of the older ones is needed. So are files that are put over one another.
func (s *session) loadNext(ctx context.Context, files []file) (n int, err error) {
	if load, isTable := overlays[files[0].kind]; isTable {
		for n < len(files) && files[n].kind == files[0].kind {
			n++
		}
		return n, load(s, ctx, files[:n])
	}
	if n = reportFiles(files); n == 0 {
		return 1, s.loadSingle(ctx, files[0])
	}
	return n, s.loadReports(ctx, files[:n])
}

// loadSingle loads an export, which is a load of its own.
func (s *session) loadSingle(ctx context.Context, f file) error {
	s.stepProgress(f)
	rows, changed, err := s.loadExport(ctx, f)
	switch {
	case isRefusal(err):
		return s.refuseFile(f, err)
	case err != nil:
		return fmt.Errorf("%s: %w", f.shown, err)
	}
	s.addResult(FileResult{File: f.shown, Status: statusOf(changed), Rows: rows})
	return nil
}

func statusOf(changed bool) Status {
	if changed {
		return Loaded
	}
	return Unchanged
}

func (s *session) stepProgress(f file) {
	s.progress.Step(f.shown, s.done, s.total)
	s.done++
}

func (s *session) addResult(r FileResult) {
	if r.Notice == "" {
		r.Notice = s.notices[r.File]
	}
	s.result.Files = append(s.result.Files, r)
}

// noteFile reports what the user should know about a file that is not at fault, at
// once and in the file's result.
func (s *session) noteFile(f file, notice string) {
	if notice != "" {
		s.progress.Notice(f.shown + ": " + notice)
		s.notices[f.shown] = joinNotices(s.notices[f.shown], notice)
	}
}

// refuseFile reports a file that is at fault. Where the account lost something, it returns
// that instead: what is missing may be why.
func (s *session) refuseFile(f file, err error) error {
	if lost := s.requireWhole(); lost != nil {
		return lost
	}
	s.addResult(refusedResult(f.shown, err))
	return nil
}

// recordReports reports the files of a load that is visible now, and notes them in
// the ledger.
func (s *session) recordReports(ctx context.Context, all []taken) error {
	var lines []LedgerLine
	for _, t := range all {
		s.noteFile(t.file, t.notice)
		s.addResult(FileResult{File: t.file.shown, Status: statusOf(t.claimed), Rows: t.rows})
		for _, key := range t.keys {
			if !s.ledger[key] && !s.noted[key] {
				lines = append(lines, LedgerLine{LedgerKey: key, File: t.file.shown, Rows: uint64(t.rows)})
				s.noted[key] = true
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return s.store.InsertLedger(ctx, s.account, lines)
}

// publishUnit makes a unit live of which write puts so many rows under a new
// generation.
func (s *session) publishUnit(ctx context.Context, b *build, kind manifest.Kind, rows int, write func(generation uint32) error) error {
	ub, err := b.beginUnit(ctx, manifest.Unit{Kind: kind})
	if err != nil {
		return err
	}
	if err := write(ub.entry.Generation); err != nil {
		return err
	}
	ub.entry.Rows = uint64(rows)
	return b.commitLoad(ctx)
}
