package clickhouse

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/integrity"
)

// flipParts changes a bit of every part of a table, none of which can be read then.
func flipParts(t *testing.T, d *database, table string) {
	t.Helper()
	changeParts(t, d.Cluster.Home(), table, func(raw []byte) { raw[len(raw)/2] ^= 0x10 })
}

// changeParts changes the bytes of every part of a table at a shard.
func changeParts(t *testing.T, at *cluster.Shard, table string, change func(raw []byte)) {
	t.Helper()
	parts, err := at.ReadTexts(t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = '"+table+"'")
	if err != nil || len(parts) == 0 {
		t.Fatalf("%s has the parts %v: %v", table, parts, err)
	}
	for _, part := range parts {
		path := filepath.Join(part, "data.bin")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		change(raw)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A bit that changed on the disk is damage, whichever check of the engine meets it:
// that of a block's sum, or an earlier one of what says how long the block is and how
// it is packed, for which the engine has other codes.
func TestAnyBitThatChangedOnTheDiskIsDamage(t *testing.T) {
	d := openShared(t)
	for _, sql := range []string{
		"CREATE TABLE flipped (day UInt16 CODEC(T64, LZ4), title String CODEC(ZSTD(1))) ENGINE = MergeTree ORDER BY day",
		"INSERT INTO flipped SELECT number, toString(number) FROM numbers(5)",
	} {
		if err := d.Cluster.Exec(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := d.Cluster.Home().ReadTexts(t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = 'flipped'")
	if err != nil || len(parts) != 1 {
		t.Fatalf("the table has the parts %v: %v", parts, err)
	}
	path := filepath.Join(parts[0], "data.bin")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() ([]string, error) {
		return conn.CollectValues[string](t.Context(), d.Cluster, "SELECT title FROM flipped WHERE day < 9", nil)
	}
	for i := range whole {
		for bit := range 8 {
			changed := append([]byte(nil), whole...)
			changed[i] ^= 1 << bit
			write(changed)
			if titles, err := read(); adlens.KindOf(err) != adlens.Damaged {
				t.Errorf("bit %d of byte %d of %d changed: %v, %v", bit, i, len(whole), titles, err)
			}
		}
	}
	changed := append([]byte(nil), whole...)
	changed[0] ^= 1
	write(changed)
	// The error has a server's own code of unfinished deletions, or that of the damage.
	if err := d.Cluster.Exec(t.Context(), "ALTER TABLE flipped DELETE WHERE day = 1", nil); err == nil {
		t.Error("rows of a part that cannot be read were deleted")
	}
	if stuck, err := d.Audit.StuckDeletions(t.Context()); err != nil || len(stuck) != 1 || !strings.HasPrefix(stuck[0], "flipped (") {
		t.Errorf("the deletions %q are stuck: %v", stuck, err)
	}
	write(whole)
	if err := d.Cluster.Exec(t.Context(), "ALTER TABLE flipped DELETE WHERE day = 77", nil); err != nil {
		t.Error(err)
	}
	if titles, err := read(); err != nil || len(titles) != 4 {
		t.Errorf("with its bytes put back, the table has %v: %v", titles, err)
	}
}

// What is found lost while an account is looked through was not looked at there.
func TestAnAccountThatLosesMoreWhileItIsInspectedStaysWithheld(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	commitUnits(t, d.Database, account, titlesOf(7)...)
	guard, meanwhile := integrity.NewGuard(), true
	i := integrity.NewInspector(d.Cluster, guard, func(context.Context, string) ([]string, error) {
		if meanwhile {
			guard.Withhold(account, "lost meanwhile")
		}
		return nil, nil
	})
	guard.Withhold(account, "lost before")
	for _, meanwhile = range []bool{true, false} {
		whole, err := i.LookAgain(t.Context(), account)
		refused := guard.Admit(account)
		if err != nil || whole == meanwhile || (refused != nil) != meanwhile {
			t.Errorf("with a loss meanwhile (%v) it is whole (%v), and refused with %v: %v", meanwhile, whole, refused, err)
		}
	}
}

// A clock is ahead by what an answer shows at least: it lies between the question and its end.
func TestClocksAreCompared(t *testing.T) {
	d := openShared(t)
	for _, ahead := range []time.Duration{-time.Hour, 0, time.Hour} {
		began := time.Now()
		apart, err := d.Audit.Clocks(t.Context(), func() time.Time { return time.Now().Add(-ahead) })
		took := time.Since(began)
		if err != nil || len(apart) != 1 || apart[0].Ahead.Abs() > ahead.Abs()+time.Millisecond || (ahead-apart[0].Ahead).Abs() > took+time.Millisecond {
			t.Errorf("a clock that is %s ahead is told to be %v, within %s: %v", ahead, apart, took, err)
		}
	}
}
