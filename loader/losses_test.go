package loader_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adlens"
	"adlens/loader"

	diff "github.com/google/go-cmp/cmp"
)

// A directory of a part that is gone when the engine starts is missed by
// nobody: the engine shows what is left without a word. Each table of which
// something is shown is tried.
func TestWhatIsGoneIsFoundAndNothingOfTheAccountIsReadOrLoaded(t *testing.T) {
	t.Parallel()
	var sound database
	if err := sound.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sound.dir) })
	base := writeBase(t, fixtureRates...)
	report := firstReport.write(t, t.TempDir())
	mustLoad(t, sound.store(), "other", base, report)
	mustLoad(t, sound.store(), "acct", base, report)
	again := restated.write(t, t.TempDir())
	mustLoad(t, sound.store(), "acct", again)
	if losses, err := sound.db.Losses(t.Context(), ""); err != nil || len(losses) > 0 {
		t.Fatalf("a sound database lost %v, %v", losses, err)
	}
	if err := sound.close(); err != nil {
		t.Fatal(err)
	}
	for table, column := range map[string]string{
		"facts": "`spend_local_rest`", "manifest": "`report_days`", "month_products": "`month`", "year_products": "`year`", "day_totals": "`day` Date\n`marketplace_key`",
	} {
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
			// Years and day totals are derived anew and never built on.
			d.misses(t, "acct", again, table != "year_products" && table != "day_totals")
		})
	}
}

// misses demands that the loss of one account is named, that nothing of it is
// read, or loaded where a load would build on what is gone, and that the other
// goes on.
func (d *database) misses(t *testing.T, account, report string, built bool) {
	t.Helper()
	losses, err := d.db.Losses(t.Context(), "")
	if err != nil || len(losses) == 0 || losses[0].Account != account || losses[len(losses)-1].Account != account {
		t.Fatalf("lost is %v, %v; expected something of %s alone", losses, err, account)
	}
	t.Log(losses)
	l := loader.Loader{Store: d.store(), Progress: silent{}}
	if _, err := l.Load(t.Context(), account, []string{report}); built && (adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), losses[0].What)) {
		t.Errorf("a load into the account ends with %v", err)
	}
	before := d.visible(t, "other")
	if err := d.db.Guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.db.View(t.Context(), account); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("a view of the account ends with %v", err)
	}
	if changed := diff.Diff(before, d.visible(t, "other")); changed != "" {
		t.Errorf("the other account is no more what it was:\n%s", changed)
	}
	if faults := d.db.Damage().Lost[account]; len(faults) != len(losses) {
		t.Errorf("%d losses are known, expected %d", len(faults), len(losses))
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
