package faults_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// An integrity check that knows only some tables answers wrongly for the others
// in silence. Each table that a load writes loses its parts in turn, or they are
// cut, or a byte of them changes: under a running server, whose engine is then
// replaced, and before the next start.
func TestEveryTableThatALoadWritesIsRightOrRefused(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	l := landed{"testdata/landed/schema-17"}
	whole := ownProgramAt(t, l.unpack(t, "data.tar.gz"))
	l.loadAgain(t, whole)   // so that all tables have rows
	l.wantAnswers(t, whole) // and it is of the newest schema now
	harms := []harm{{"gone", os.RemoveAll}, {"cut", cutPart}, {"flipped", flipPart}}
	for i, table := range loadedTables {
		for j, h := range harms {
			if (i+j)%len(harms) != 0 && house.Scaled(1) == 1 {
				continue // one harm each, unless more was requested
			}
			t.Run(table+" "+h.name, func(t *testing.T) {
				t.Parallel()
				l.harmed(t, house.CopyOf(t, whole), table, h, func(server *harness.Server) (refused int) { return l.areRightOrRefused(t, server) })
			})
		}
	}
}

// loadedTables are the tables of what a load makes live.
var loadedTables = []string{
	"commits", "commit_units", "marketplaces", "rates", "product_titles", "products", "entities", "campaigns", "ad_groups", "ads",
	"rules", "rule_runs", "activity", "facts", "day_totals", "month_products", "month_ad_groups", "year_products", "year_ad_groups",
}

// harm is what befalls a part of a table.
type harm struct {
	name string
	do   func(part string) error
}

func dataFile(part string) string { return filepath.Join(part, "data.bin") }

func cutPart(part string) error { return house.Truncate(dataFile(part)) }

func flipPart(part string) error { return house.Flip(dataFile(part)) }

func ownProgramAt(t *testing.T, dir string) *harness.Program {
	t.Helper()
	house.Need(t, os.Chmod(dir, 0o700))
	p, err := harness.New(dir)
	house.Need(t, err)
	return house.Keep(t, p)
}

// harmed does harm to each part of a table, and demands that a server is right
// or refuses, as ask asks it, that readiness names what is refused, that doctor
// finds the damage even where no answer reads it, and that no backup is called
// whole.
func (l landed) harmed(t *testing.T, p *harness.Program, table string, h harm, ask func(*harness.Server) (refused int), flags ...string) {
	t.Helper()
	flags = append(flags, withoutMemory...)
	server, err := p.Serve(flags...)
	house.Need(t, err)
	harmParts(t, p, table, h)
	house.Need(t, p.KillEngine())
	ask(server)
	house.Need(t, server.Stop())
	house.Need(t, p.StopEngine()) // one that runs may remember what was there

	server, err = p.Serve(flags...)
	house.Need(t, err)
	refused := ask(server)
	ready := string(house.Get(t, harness.Client{Address: server.Address}, "/readyz").Body)
	if refused > 0 && !strings.Contains(ready, "damaged") && !strings.Contains(ready, "cannot be read") {
		t.Errorf("readiness does not name the damage: %s", ready)
	}
	house.Need(t, server.Stop())
	house.Need(t, p.StopEngine())
	if r := p.Run("doctor"); r.Code == 0 {
		t.Errorf("doctor finds nothing: %s", r)
	}
	// What is derived again by a restore is in no backup.
	if derived := []string{"month_products", "month_ad_groups", "year_products", "year_ad_groups"}; !slices.Contains(derived, table) {
		if r := p.Run("backup", "--to", filepath.Join(t.TempDir(), "backups")); r.Code == 0 {
			t.Errorf("a backup calls it whole: %s", r)
		}
	}
}

// harmParts does harm to each part of a table. Parts that were merged come back
// where they are still there.
func harmParts(t *testing.T, p *harness.Program, table string, h harm) {
	t.Helper()
	parts := strings.Fields(house.AsWriter(t, p, "SELECT path FROM system.parts WHERE database = 'adlens' AND rows > 0 AND table = '"+table+"'"))
	if len(parts) == 0 {
		t.Fatalf("%s has no parts", table)
	}
	for _, part := range parts {
		if err := h.do(part); !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			house.Need(t, err)
		}
	}
}

// areRightOrRefused demands of every answer that it is what it was, or 503.
func (l landed) areRightOrRefused(t *testing.T, server *harness.Server) (refused int) {
	t.Helper()
	l.ask(t, server, func(account, path, want string, a harness.Answer) {
		switch {
		case a.Status == 503:
			refused++
		case strings.TrimSpace(string(a.Body)) != want:
			t.Errorf("account %s, %s:\nnow  %.300s\nthen %.300s", account, path, fmt.Sprint(a), want)
		}
	})
	t.Logf("%d answers were refused", refused)
	return refused
}
