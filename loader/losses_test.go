package loader_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/engine"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"

	diff "github.com/google/go-cmp/cmp"
)

// A directory of a part that is gone when the engine starts is missed by
// no check: the engine shows what is left without a word. Each table of which
// something is shown is tried.
func TestWhatIsGoneIsFoundAndNothingOfTheAccountIsReadOrLoaded(t *testing.T) {
	t.Parallel()
	var sound database
	if err := sound.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sound.dir) })
	columns := map[string]string{
		"facts": "`spend_local_rest`", "commit_units": "`report_days`", "commits": "`number` UInt32\n`base`", "products": "`product_key` UInt32\n`product_id`",
		"month_products": "`month`", "year_products": "`year`", "day_totals": "`day` Date\n`marketplace_key`",
		"month_ad_groups": "`month`", "year_ad_groups": "`year`",
	}
	// A merge would put both accounts into one part, and leave the last load's
	// behind as one that is superseded, of which nothing is missed.
	for table := range columns {
		sound.run(t, engine.LoaderUser, sound.at.LoaderPassword, "", "ALTER TABLE "+table+
			" MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
	}
	base := writeBase(t, fixtureRates...)
	report := firstReport.write(t, t.TempDir())
	mustLoad(t, sound.store(), "other", base, report)
	mustLoad(t, sound.store(), "acct", base, report)
	again := restated.write(t, t.TempDir())
	mustLoad(t, sound.store(), "acct", again)
	if losses, err := sound.db.Inspector.Losses(t.Context(), ""); err != nil || len(losses) > 0 {
		t.Fatalf("a sound database lost %v, %v", losses, err)
	}
	if err := sound.close(); err != nil {
		t.Fatal(err)
	}
	for table, column := range columns {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			d := database{dir: t.TempDir()}
			if err := os.CopyFS(d.dir, os.DirFS(sound.dir)); err != nil {
				t.Fatal(err)
			}
			// The newest part is that of the last load.
			parts := partsWith(t, d.dir, column)
			if err := os.RemoveAll(parts[len(parts)-1]); err != nil {
				t.Fatal(err)
			}
			if err := d.reopen(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.close(); err != nil {
					t.Error(err)
				}
			})
			d.misses(t, "acct", again)
		})
	}
}

// misses demands that the loss of one account is named, that nothing of it is
// read or loaded, and that the other goes on.
func (d *database) misses(t *testing.T, account, report string) {
	t.Helper()
	losses, err := d.db.Inspector.Losses(t.Context(), "")
	if err != nil || len(losses) == 0 || losses[0].Account != account || losses[len(losses)-1].Account != account {
		t.Fatalf("lost is %v, %v; expected something of %s alone", losses, err, account)
	}
	t.Log(losses)
	l := loader.Loader{Store: d.store(), Progress: silent{}}
	if _, err := l.Load(t.Context(), account, []string{report}); adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), losses[0].What) {
		t.Errorf("a load into the account ends with %v", err)
	}
	before := d.visible(t, "other")
	if err := d.db.Inspector.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.db.Figures.View(t.Context(), account); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("a view of the account ends with %v", err)
	}
	if changed := diff.Diff(before, d.visible(t, "other")); changed != "" {
		t.Errorf("the other account is no more what it was:\n%s", changed)
	}
	if faults := d.db.Inspector.Damage().Lost[account]; len(faults) != len(losses) {
		t.Errorf("%d losses are known, expected %d", len(faults), len(losses))
	}
}

// forgetful is a store whose engine loses a month's rows, and goes on without
// them, just before a load copies from it.
type forgetful struct{ loader.Store }

func (f forgetful) CopyDays(ctx context.Context, account string, copies []loader.Copy) error {
	if err := loseMonth(ctx, f.Store, "facts", account, copies[0].From); err != nil {
		return err
	}
	return f.Store.CopyDays(ctx, account, copies)
}

// loseMonth takes a month's rows from a table. A deletion is left to a later one while
// another goes on, as those of other tests do.
func loseMonth(ctx context.Context, f loader.Store, table, account string, generation uint32) error {
	lost := tables.Deletion{Table: table, Account: account, Generations: []uint32{generation}}
	for {
		if err := f.Tables().DeleteRows(ctx, []tables.Deletion{lost}); err != nil {
			return err
		}
		counts, err := f.Tables().CountRows(ctx, account, lost.Table)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(counts, func(c tables.Count) bool { return c.Generation == generation && c.Rows > 0 }) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Sums of a copy and of its original agree where both lack the same rows.
func TestALoadBuildsOnNothingThatWasLostSinceItBegan(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	mustLoad(t, store, t.Name(), writeBase(t, fixtureRates...), firstReport.write(t, t.TempDir()))
	l := loader.Loader{Store: forgetful{store}, Progress: silent{}}
	_, err := l.Load(t.Context(), t.Name(), []string{restated.write(t, t.TempDir())})
	if adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), "has 0 rows, 2 were loaded") {
		t.Errorf("a load of which the base was lost ends with %v", err)
	}
}

// forgetfulReader is a store whose engine loses the facts of some units just before they
// are read.
type forgetfulReader struct {
	loader.Store
	of func(manifest.Unit) bool
}

func (f forgetfulReader) Facts(ctx context.Context, account string, u manifest.Unit, generation uint32, days manifest.Days, each func(*loader.StoredFact) error) error {
	if f.of(u) {
		if err := loseMonth(ctx, f.Store, "facts", account, generation); err != nil {
			return err
		}
	}
	return f.Store.Facts(ctx, account, u, generation, days, each)
}

// What is made of live rows is not made visible where they were lost before.
func TestNothingIsDerivedFromRowsThatWereLost(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	const day = "2026-01-30"
	legacy := brandsReport{id: "o", profile: profileUS, start: day, legacy: true, generated: at, rows: []brandsRow{{"", "7", "5", "1.5"}}}
	v3 := brandsReport{id: "n", profile: profileUS, start: day, end: day, generated: at, rows: []brandsRow{{day, "6", "2", "1"}}}
	mustLoad(t, store, t.Name(), writeBase(t), brandsList{"l", profileUS, at, map[string]string{"7": "false"}}.write(t, t.TempDir()), legacy.write(t, t.TempDir()))
	l := loader.Loader{Store: forgetfulReader{store, func(u manifest.Unit) bool { return u.Slice.AdProduct == manifest.LegacyReported }}, Progress: silent{}}
	_, err := l.Load(t.Context(), t.Name(), []string{v3.write(t, t.TempDir())})
	if adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("a load that read lost rows ends with %v", err)
	}
}

// Rates that touch every held day of a month leave none to copy: all is read, and written
// again.
func TestNoDayIsConvertedOfRowsThatWereLost(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	mustLoad(t, store, t.Name(), writeBase(t, fixtureRates...), firstReport.write(t, t.TempDir()))
	l := loader.Loader{Store: forgetfulReader{store, func(manifest.Unit) bool { return true }}, Progress: silent{}}
	others := writeBase(t, "2025-12-22,EUR,2.1", "2025-12-29,EUR,2.2", "2026-01-05,EUR,2.3", "2026-01-12,EUR,2.4")
	if _, err := l.Load(t.Context(), t.Name(), []string{others}); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("a load that read lost rows ends with %v", err)
	}
}

// forgetfulDeriver is a store whose engine loses the rollups of all live months just
// before others are derived.
type forgetfulDeriver struct{ loader.Store }

func (f forgetfulDeriver) Derive(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	for _, y := range years {
		for _, generation := range y.Months {
			if err := loseMonth(ctx, f.Store, "month_products", account, generation); err != nil {
				return err
			}
		}
	}
	return f.Store.Derive(ctx, account, months, years)
}

// A year without a month that was lost agrees with the months as they are read.
func TestNoYearIsMadeOfMonthsThatWereLost(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	month := func(id, day string) string {
		return reportFile{id, profileUS, day, day, "2026-03-01T04:00:00Z", []string{row(day, "B01", "5", "1.25", "2.50")}}.write(t, t.TempDir())
	}
	mustLoad(t, store, t.Name(), writeBase(t), month("a", "2026-01-05"))
	l := loader.Loader{Store: forgetfulDeriver{store}, Progress: silent{}}
	if _, err := l.Load(t.Context(), t.Name(), []string{month("b", "2026-02-05")}); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("a load whose year lacks a month ends with %v", err)
	}
}

// tampering is a store that writes other facts than it is given, or derives more.
type tampering struct {
	loader.Store
	rows        func(all []int) []int // of a batch
	deriveTwice func(months []manifest.Entry, years []loader.YearParts) ([]manifest.Entry, []loader.YearParts)
	change      func(ctx context.Context, account string, months []manifest.Entry) error // what was derived
}

func (s tampering) InsertFacts(ctx context.Context, account string, b *loader.Batch) error {
	if s.rows == nil {
		return s.Store.InsertFacts(ctx, account, b)
	}
	all := make([]int, b.Rows())
	for i := range all {
		all[i] = i
	}
	return s.Store.InsertFacts(ctx, account, b.Select(s.rows(all)))
}

func (s tampering) Derive(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	err := s.Store.Derive(ctx, account, months, years)
	if err == nil && s.deriveTwice != nil {
		months, years = s.deriveTwice(months, years)
		err = s.Store.Derive(ctx, account, months, years)
	}
	if err == nil && s.change != nil {
		err = s.change(ctx, account, months)
	}
	return err
}

// What is read back is compared with the files, and what was derived with the facts.
func TestALoadThatWasWrittenWrongIsRefused(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	const notRead, notMonths = "what was written does not add up to what was read", "does not add up to its months"
	for name, c := range map[string]struct {
		store tampering
		want  string
	}{
		"a row dropped": {tampering{rows: func(all []int) []int { return all[1:] }}, notRead},
		"a row doubled": {tampering{rows: func(all []int) []int { return append(all, 0) }}, notRead},
		"months derived twice": {tampering{deriveTwice: func(months []manifest.Entry, _ []loader.YearParts) ([]manifest.Entry, []loader.YearParts) {
			return months, nil
		}}, notRead},
		"years derived twice": {tampering{deriveTwice: func(_ []manifest.Entry, years []loader.YearParts) ([]manifest.Entry, []loader.YearParts) {
			return nil, years
		}}, notMonths},
		"dollars of a month changed": {tampering{change: func(ctx context.Context, account string, months []manifest.Entry) error {
			return d.db.Cluster.Exec(ctx, "ALTER TABLE month_products UPDATE spend = spend + 0.000001 WHERE account_id = {account:String} AND generation = {new:UInt32} SETTINGS mutations_sync = 1",
				conn.Params{"account": query.Text(account), "new": conn.Number(months[0].Generation)})
		}}, notRead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := t.Name()
			mustLoad(t, d.store(), account, writeBase(t, fixtureRates...), firstReport.write(t, t.TempDir()))
			before := d.visible(t, account)
			c.store.Store = d.store()
			l := loader.Loader{Store: c.store, Progress: silent{}}
			if _, err := l.Load(t.Context(), account, []string{restated.write(t, t.TempDir())}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the load ends with %v, want %q", err, c.want)
			}
			if changed := diff.Diff(before, d.visible(t, account)); changed != "" {
				t.Errorf("the account is no more what it was:\n%s", changed)
			}
		})
	}
}

// partsWith are the directories of the parts whose list of columns has a text,
// the oldest first.
func partsWith(t *testing.T, dir, columns string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "engine", "store", "store", "*", "*", "*_*_*", "columns.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, path := range found {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // the engine removed what it merged
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), columns) {
			parts = append(parts, filepath.Dir(path))
		}
	}
	if len(parts) == 0 {
		t.Fatalf("no part has the columns %s", columns)
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Compare(firstBlock(a), firstBlock(b)) })
	return parts
}

// firstBlock is the second number of a part's name: the number of the insert
// that it, or the oldest part of which it was merged, came with.
func firstBlock(part string) int {
	n, _ := strconv.Atoi(strings.Split(filepath.Base(part), "_")[1])
	return n
}
