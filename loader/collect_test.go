package loader_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

var generationTables = []string{"facts", "day_totals", "month_products", "month_ad_groups", "year_products", "year_ad_groups", "marketplaces", "rates", "product_titles", "products"}

// collect does what a load does that finds nothing new: it notes what others
// left, and deletes what was noted longer ago than after.
func (d *database) collect(t *testing.T, account string, after time.Duration) {
	t.Helper()
	port := d.store().Tables()
	s, err := commits.Begin(t.Context(), port, account, rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := commits.DeleteDead(t.Context(), port, account, after, after); err != nil {
		t.Fatal(err)
	}
}

// rowCounts are an account's rows in every table, live ones first.
func (d *database) rowCounts(t *testing.T, account string) map[string]string {
	t.Helper()
	s, counts := d.stateOf(t, account), map[string]string{}
	for _, table := range generationTables {
		cells := s.query(t, "SELECT countIf(generation IN "+live+"), countIf(generation NOT IN "+live+") FROM "+table+" WHERE account_id = {account:String}")[0]
		counts[table] = cells[0] + " live, " + cells[1] + " dead"
	}
	return counts
}

// makeGarbage leaves dead rows in every table: superseded ones, and those of
// a load that failed just before it became visible.
func (d *database) makeGarbage(t *testing.T, account string) {
	t.Helper()
	base, reports := writeBase(t, fixtureRates...), t.TempDir()
	writeFile(t, filepath.Join(base, "products.csv"), "product_id,title\nB0A,Lamp\n")
	mustLoad(t, d.store(), account, base, firstReport.write(t, reports))
	other := t.TempDir()
	writeFile(t, filepath.Join(other, "products.csv"), "product_id,title\nB0A,Leuchte\n")
	writeFile(t, filepath.Join(other, "profiles.json"), `[{"profileId": 1002, "countryCode": "GB", "currencyCode": "GBP", "timezone": "Europe/London", "accountInfo": {"type": "seller", "name": "More"}}]`)
	writeRates(t, other, changedRates...)
	mustLoad(t, d.store(), account, other)
	l := loader.Loader{Store: &faulty{store: d.store(), on: "Units.Append"}, Progress: silent{}}
	if _, err := l.Load(t.Context(), account, []string{restated.write(t, t.TempDir())}); err == nil {
		t.Fatal("the load that should leave garbage behind was well")
	}
}

// deadGeneration is one that was noted as dead and has facts.
func (d *database) deadGeneration(t *testing.T, account string) (generation uint32) {
	t.Helper()
	cells := d.query(t, account, `SELECT min(generation) FROM facts WHERE account_id = {account:String} AND toYYYYMM(day) = 202601
 AND generation IN (SELECT generation FROM dead_generations WHERE account_id = {account:String} AND table_name = 'facts')`)
	if _, err := fmt.Sscan(cells[0][0], &generation); err != nil || generation == 0 {
		t.Fatal(cells, err)
	}
	return generation
}

// read counts a generation's rows of January, as one who holds an old
// manifest would read them.
func (d *database) read(t *testing.T, account string, generation uint32) (rows int) {
	t.Helper()
	january := manifest.Unit{Kind: manifest.Month, Start: adlens.Date(2026, time.January, 1)}
	err := d.store().Facts(t.Context(), account, january, generation, ^manifest.Days(0), func(*loader.StoredFact) error { rows++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestDeadRowsAreKeptForReadersAndThenDeleted(t *testing.T) {
	d := openShared(t)
	account, neighbour := t.Name(), t.Name()+" neighbour"
	for _, a := range []string{account, neighbour} {
		d.makeGarbage(t, a)
	}
	seen, kept, untouched := d.visible(t, account), d.rowCounts(t, account), d.rowCounts(t, neighbour)
	for table, counts := range kept {
		var alive, dead int
		if _, err := fmt.Sscanf(counts, "%d live, %d dead", &alive, &dead); err != nil || dead == 0 || alive == 0 {
			t.Fatalf("%s has %s: the test needs both", table, counts)
		}
	}
	for range 2 {
		d.collect(t, account, 15*time.Minute)
	}
	if diff := cmp.Diff(kept, d.rowCounts(t, account)); diff != "" {
		t.Errorf("rows went that a query may still be reading:\n%s", diff)
	}
	dead := d.deadGeneration(t, account)
	if d.read(t, account, dead) == 0 {
		t.Error("a reader with an old manifest gets no rows any more")
	}
	for range 2 {
		d.collect(t, account, 0)
		d.settle(t)
	}
	for table, counts := range d.rowCounts(t, account) {
		var alive, dead int
		if _, err := fmt.Sscanf(counts, "%d live, %d dead", &alive, &dead); err != nil || dead != 0 {
			t.Errorf("%s has %s after the collection", table, counts)
		}
	}
	if d.read(t, account, dead) != 0 {
		t.Error("rows of a dead generation can still be read")
	}
	if diff := cmp.Diff(seen, d.visible(t, account)); diff != "" {
		t.Errorf("the collection changed what can be seen:\n%s", diff)
	}
	if diff := cmp.Diff(untouched, d.rowCounts(t, neighbour)); diff != "" {
		t.Errorf("the collection touched another account:\n%s", diff)
	}
}

// stopped is a progress that ends what waits for a lock.
type stopped struct {
	silent
	stop func()
}

func (s stopped) Notice(string) { s.stop() }

// A load may take hours. The dead rows of all others, which no load of theirs deletes,
// were kept for as long.
func TestAnAccountThatIsBeingLoadedKeepsNoDeadRowsOfOthers(t *testing.T) {
	t.Parallel()
	d := openOwn(t)
	busy, other := "a-busy", "b-other"
	for _, account := range []string{busy, other} {
		d.makeGarbage(t, account)
	}
	release, err := d.store().Lock(t.Context(), busy, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	untouched := d.rowCounts(t, busy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := loader.Loader{Store: d.store(), Progress: stopped{stop: cancel}}
	if err := l.Collect(ctx, 0); err != nil {
		t.Fatal(err)
	}
	d.settle(t)
	for table, counts := range d.rowCounts(t, other) {
		if !strings.HasSuffix(counts, ", 0 dead") {
			t.Errorf("%s of the other account has %s", table, counts)
		}
	}
	if found, err := commits.Unsettled(t.Context(), d.db.Tables); err != nil || !slices.Equal(found, []string{busy}) {
		t.Errorf("unsettled are %v, %v", found, err)
	}
	if err := errors.Join(release(), l.Collect(ctx, 0)); err != nil {
		t.Fatal(err)
	}
	d.settle(t)
	if cmp.Equal(untouched, d.rowCounts(t, busy)) {
		t.Error("nothing was deleted of the account whose load has ended")
	}
}

// What a load replaces is noted by the load itself, so that nothing has to look
// through all rows for it; only what a broken load left is looked for.
func TestAGoodLoadLeavesNothingToLookFor(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	base := writeBase(t, fixtureRates...)
	writeFile(t, filepath.Join(base, "products.csv"), "product_id,title\nB0A,Lamp\n")
	mustLoad(t, d.store(), account, base, firstReport.write(t, t.TempDir()))
	other := t.TempDir()
	writeFile(t, filepath.Join(other, "products.csv"), "product_id,title\nB0A,Leuchte\n")
	writeRates(t, other, changedRates...)
	mustLoad(t, d.store(), account, other, restated.write(t, t.TempDir()))
	d.isAccounted(t, account)
	d.allDeadAreNoted(t, account)
	l := loader.Loader{Store: &faulty{store: d.store(), on: "Units.Append"}, Progress: silent{}}
	if _, err := l.Load(t.Context(), account, []string{reportFile{"third", profileDE, "2026-01-01", "2026-01-05", "2026-01-13T04:00:00Z", nil}.write(t, t.TempDir())}); err == nil {
		t.Fatal("the load that should leave garbage behind was well")
	}
	if found, err := commits.Unsettled(t.Context(), d.db.Tables); err != nil || !slices.Contains(found, account) {
		t.Fatalf("a load broke, and what it left would not be looked for: %v, %v", found, err)
	}
	d.collect(t, account, 15*time.Minute)
	d.isAccounted(t, account)
	d.allDeadAreNoted(t, account)
}

func (d *database) isAccounted(t *testing.T, account string) {
	t.Helper()
	if found, err := commits.Unsettled(t.Context(), d.db.Tables); err != nil || slices.Contains(found, account) {
		t.Errorf("after a good load all rows have to be looked through: %v, %v", found, err)
	}
}

func (d *database) allDeadAreNoted(t *testing.T, account string) {
	t.Helper()
	s := d.stateOf(t, account)
	for _, table := range generationTables {
		cells := s.query(t, "SELECT count(), countIf(generation NOT IN (SELECT generation FROM dead_generations WHERE account_id = {account:String} AND table_name = '"+table+
			"')) FROM "+table+" WHERE account_id = {account:String} AND generation NOT IN "+live)[0]
		if cells[0] == "0" && table != "marketplaces" || cells[1] != "0" {
			t.Errorf("%s has %s dead rows, of which %s are not noted", table, cells[0], cells[1])
		}
	}
}
