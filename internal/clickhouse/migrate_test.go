package clickhouse

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"adlens/internal/catalogue"
	"adlens/internal/clickhouse/conn"
	migrations "adlens/internal/clickhouse/schema"
	"adlens/loader"
	"adlens/schema"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
)

// Four users of one process and two other processes find a fresh directory at
// once: one engine is started, and one schema made.
func TestTheSchemaIsMadeOnceHoweverManyMakeIt(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	databases := make(chan *database, 4)
	for range 4 {
		all.Go(func() {
			d, err := openDatabase(dir)
			if err != nil {
				t.Error(err)
				return
			}
			databases <- d
		})
	}
	for range 2 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleVariable+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("another process: %v\n%s", err, out)
			}
		})
	}
	all.Wait()
	close(databases)
	steps, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	closing := false
	for d := range databases {
		if got := one[uint64](t, d.Database, "SELECT uniqExact(number) FROM migrations WHERE number < 9999", nil); got != uint64(len(steps)) {
			t.Errorf("%d steps are noted, expected %d", got, len(steps))
		}
		if !closing {
			newerSchemaIsRefused(t, d, dir)
			closing = true
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

func newerSchemaIsRefused(t *testing.T, d *database, dir string) {
	t.Helper()
	if err := d.Cluster.Exec(t.Context(), "INSERT INTO migrations (number, name) VALUES (9999, 'from the future')", nil); err != nil {
		t.Fatal(err)
	}
	again, err := openDatabase(dir)
	if err == nil {
		again.close()
		t.Fatal("data of a newer version is taken")
	}
	if !strings.Contains(err.Error(), "written by a newer adlens (schema 9999; this one knows") {
		t.Errorf("the reason is not clear: %v", err)
	}
}

func TestOpeningAgainChangesNothing(t *testing.T) {
	d := openShared(t)
	before := one[uint64](t, d.Database, "SELECT count() FROM migrations", nil)
	again, err := Open(t.Context(), conn.Embedded{Engine: d.engine})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := migrations.Migrate(t.Context(), again.Cluster.Home().Server); err != nil {
		t.Fatal(err)
	}
	if after := one[uint64](t, d.Database, "SELECT count() FROM migrations", nil); after != before {
		t.Errorf("%d steps were applied again", after-before)
	}
}

func TestEveryMeasureHasItsColumnAndEveryColumnItsMeasure(t *testing.T) {
	d := openShared(t)
	want := map[string]string{
		"account_id": "LowCardinality(String)", "generation": "UInt32", "day": "Date",
		"product_key": "UInt32", "campaign_key": "UInt32", "ad_group_key": "UInt32", "marketplace_key": "UInt16", "ad_product": "UInt8",
	}
	names, units := loader.FactColumns()
	for i, name := range names {
		want[name] = "UInt64"
		if units[i] != catalogue.Count {
			want[name] = "Decimal(18, 6)"
		}
	}
	// Only the loader may look into the system tables.
	got := map[string]string{}
	err := d.Cluster.Home().ReadAsOwner(t.Context(), "SELECT name, type FROM system.columns WHERE database = 'adlens' AND table = 'facts'", nil, conn.EachRow(func(scan conn.Scan) error {
		var name, kind string
		err := scan(&name, &kind)
		got[name] = kind
		return err
	}))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the table is not what the loader writes (- loader, + table): %v\n%s", err, diff)
	}
	if len(names) != len(want)-8 {
		t.Error("FactColumns names a column twice")
	}
}

// gone is a server that ends between being found and being asked, the first
// time; then it is what Source says.
type gone struct {
	conn.Source
	found *int
}

func (g gone) Target(ctx context.Context) (conn.Target, error) {
	if *g.found++; *g.found > 1 {
		return g.Source.Target(ctx)
	}
	nowhere := &clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{"127.0.0.1:1"}, Auth: clickhouse.Auth{Database: "adlens"}}
	return conn.Target{Reader: nowhere, Writer: nowhere}, nil
}

// errFull is why an engine cannot start.
var errFull = errors.New("the disk is full")

type full struct{ conn.Source }

func (full) Target(context.Context) (conn.Target, error) { return conn.Target{}, errFull }

func TestAServerThatEndedSinceItWasFoundIsLookedForOnceMore(t *testing.T) {
	d := openShared(t)
	for name, c := range map[string]struct {
		then conn.Source
		want error
	}{
		"and answers again": {conn.Embedded{Engine: d.engine}, nil}, "and says why it cannot start": {full{}, errFull},
	} {
		found := 0
		if err := conn.NewServer(gone{c.then, &found}, conn.Checks{}).CreateDatabase(t.Context()); !errors.Is(err, c.want) || found != 2 {
			t.Errorf("%s: looked for %d times, and the error is %v, expected %v", name, found, err, c.want)
		}
	}
}
