package loader_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/tables"
	"adlens/loader"

	diff "github.com/google/go-cmp/cmp"
)

// emptied answers once rows were counted as an engine does that restarted without the rows
// of a table.
type emptied struct {
	loader.Store
	table   string
	counted chan struct{}
	once    *sync.Once
}

func (e emptied) Tables() tables.Port { return countedPort{e.Store.Tables(), e} }

func (e emptied) ProductNumbers(ctx context.Context, account string, generation uint32) (map[string]uint32, error) {
	return orEmptied(e, "products", map[string]uint32{}, func() (map[string]uint32, error) { return e.Store.ProductNumbers(ctx, account, generation) })
}

func (e emptied) Entities(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]*loader.Entity, error) {
	return orEmptied(e, "entities", map[adlens.EntityID]*loader.Entity{}, func() (map[adlens.EntityID]*loader.Entity, error) { return e.Store.Entities(ctx, account, generation) })
}

func (e emptied) Rates(ctx context.Context, account string, generation uint32) (loader.Rates, error) {
	return orEmptied(e, "rates", loader.Rates{}, func() (loader.Rates, error) { return e.Store.Rates(ctx, account, generation) })
}

func (e emptied) Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error) {
	return orEmptied(e, "marketplaces", nil, func() ([]loader.Marketplace, error) { return e.Store.Marketplaces(ctx, account, generation) })
}

func orEmptied[R any](e emptied, table string, none R, read func() (R, error)) (R, error) {
	if e.table != table {
		return read()
	}
	<-e.counted
	return none, nil
}

type countedPort struct {
	tables.Port
	of emptied
}

func (p countedPort) CountRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	all, err := p.Port.CountRows(ctx, account, names...)
	p.of.once.Do(func() { close(p.of.counted) })
	return all, err
}

// With the numbers of products or campaigns gone, the next one would get the first one's,
// and its figures.
func TestALoadBuildsOnNothingThatIsReadEmptySinceItBegan(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	// reports are of a product and of a campaign.
	reports := func(id, start, product, campaign string, at time.Time) []string {
		of := reportFile{id, profileDE, start, start, at.Format(time.RFC3339), []string{row(start, product, "5", "1.25", "2.50")}}
		brands := brandsReport{id: "brands-" + id, profile: profileDE, start: start, end: start, generated: at, rows: []brandsRow{{start, campaign, "5", "1.5"}}}
		return []string{of.write(t, t.TempDir()), brands.write(t, t.TempDir())}
	}
	at := time.Date(2026, 1, 6, 4, 0, 0, 0, time.UTC)
	for _, table := range []string{"products", "entities", "rates", "marketplaces"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			mustLoad(t, d.store(), t.Name(), append(reports("a", "2026-01-02", "B01", "7", at), writeBase(t, fixtureRates...))...)
			before := d.visible(t, t.Name())
			l := loader.Loader{Store: emptied{d.store(), table, make(chan struct{}), &sync.Once{}}, Progress: silent{}}
			if _, err := l.Load(t.Context(), t.Name(), reports("b", "2026-01-05", "B02", "8", at)); adlens.KindOf(err) != adlens.Damaged {
				t.Errorf("the load ends with %v, want that the account is damaged", err)
			}
			if changed := diff.Diff(before, d.visible(t, t.Name())); changed != "" {
				t.Errorf("the account is no more what it was:\n%s", changed)
			}
		})
	}
}

// A part of which only the file with its number of rows changed is read without an error,
// and counted right by a projection. No load takes over what is left of it.
func TestALoadTakesNothingFromAPartWhoseCountChanged(t *testing.T) {
	t.Parallel()
	d := openOwn(t)
	var rows []string
	for i := range 20 {
		rows = append(rows, row(fmt.Sprintf("2026-01-%02d", i+1), "B01", "5", "1.25", "2.50"))
	}
	first := reportFile{"a", profileUS, "2026-01-01", "2026-01-20", "2026-01-21T04:00:00Z", rows}
	mustLoad(t, d.store(), "acct", writeBase(t), first.write(t, t.TempDir()))
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range partsWith(t, d.dir, "`spend_local_rest` UInt64") {
		path := filepath.Join(part, "count.txt")
		if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != "20" {
			continue
		}
		if err := os.WriteFile(path, []byte("10"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.reopen(); err != nil {
		t.Fatal(err)
	}
	second := reportFile{"b", profileUS, "2026-01-01", "2026-01-01", "2026-01-22T04:00:00Z", []string{row("2026-01-01", "B01", "5", "1.25", "2.50")}}
	l := loader.Loader{Store: d.store(), Progress: silent{}}
	if _, err := l.Load(t.Context(), "acct", []string{second.write(t, t.TempDir())}); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("the load ends with %v, want that the account is damaged", err)
	}
	if faults, err := loader.Verify(t.Context(), d.store(), "acct"); err != nil || len(faults) == 0 {
		t.Errorf("the account is whole: %v, %v", faults, err)
	}
}

// A block of one account's record that cannot be read keeps no other account from being
// read, and is no reason to restore another from a backup.
func TestAnUnreadableRecordIsNoFaultOfAnotherAccount(t *testing.T) {
	t.Parallel()
	d := openOwn(t)
	mustLoad(t, d.store(), "whole", writeBase(t, fixtureRates...), firstReport.write(t, t.TempDir()))
	mustLoad(t, d.store(), "spoilt", writeBase(t, fixtureRates...))
	for i := 1; d.db.Inspector.Damage().Unread == nil; i++ { // the engine merges parts when it likes
		if i > 28 {
			t.Fatal("no part of one account alone could be spoilt")
		}
		day := fmt.Sprintf("2026-02-%02d", i)
		report := reportFile{fmt.Sprint("own-", i), profileUS, day, day, "2026-03-21T04:00:00Z", []string{row(day, "B01", "5", "1.25", "2.50")}}
		mustLoad(t, d.store(), "spoilt", report.write(t, t.TempDir()))
		own := d.query(t, "spoilt", "SELECT _part FROM commit_units WHERE account_id = {account:String} AND _part NOT IN (SELECT _part FROM commit_units WHERE account_id = 'whole')")
		for _, part := range partsWith(t, d.dir, "`report_columns`") {
			path := filepath.Join(part, "data.bin")
			content, err := os.ReadFile(path)
			if len(own) == 0 || filepath.Base(part) != own[0][0] || err != nil {
				continue
			}
			content[len(content)/2] ^= 1
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.db.Inspector.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for account, damaged := range map[string]bool{"whole": false, "spoilt": true} {
		if faults, err := d.db.Inspector.Faults(t.Context(), account); err != nil || len(faults) > 0 != damaged {
			t.Errorf("the faults of the account %s: %v, %v", account, faults, err)
		}
	}
	if _, err := d.db.Figures.View(t.Context(), "whole"); err != nil {
		t.Errorf("the account that is whole: %v", err)
	}
}

// A load and a pull, by hand or of a server, build nothing on notes of reports of which
// nothing is live.
func TestALoadIntoNotesOfReportsAloneIsRefused(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	line := loader.LedgerLine{LedgerKey: loader.LedgerKey{ReportID: "a", SHA256: "00"}, File: "a.report.json", Rows: 1}
	if err := store.InsertLedger(t.Context(), t.Name(), []loader.LedgerLine{line}); err != nil {
		t.Fatal(err)
	}
	l := loader.Loader{Store: store, Progress: silent{}}
	_, err := l.Load(t.Context(), t.Name(), []string{writeBase(t)})
	if err == nil || !strings.Contains(err.Error(), "noted as loaded") || !strings.Contains(err.Error(), loader.RestoreElsewhere) {
		t.Errorf("the load ends with %v", err)
	}
}

// overtaken is a store whose lock is lost, and in which another writer loads before the
// notes of loaded reports are read.
type overtaken struct {
	loader.Store
	meanwhile func()
}

func (o overtaken) Lock(context.Context, string, func(string)) (func() error, error) {
	return func() error { return nil }, nil
}

func (o overtaken) Ledger(ctx context.Context, account string) (map[loader.LedgerKey]bool, error) {
	o.meanwhile()
	return o.Store.Ledger(ctx, account)
}

// The first load of an account that was overtaken sees the notes of the other one, and
// nothing of what that has made live.
func TestAnOvertakenLoadTakesNotesForNoRestore(t *testing.T) {
	t.Parallel()
	store := openShared(t).store()
	path := reportFile{"a", profileUS, "2026-01-02", "2026-01-02", "2026-01-03T04:00:00Z", []string{row("2026-01-02", "B01", "5", "1.25", "2.50")}}.write(t, t.TempDir())
	other := sync.OnceFunc(func() { mustLoad(t, store, t.Name(), writeBase(t), path) })
	l := loader.Loader{Store: overtaken{store, other}, Progress: silent{}}
	if _, err := l.Load(t.Context(), t.Name(), []string{path}); err == nil || !strings.Contains(err.Error(), "run the command again") {
		t.Errorf("the load ends with %v", err)
	}
}
