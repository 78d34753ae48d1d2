package cluster_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/containers"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// A data directory whose store was emptied answers nothing, and no backup of it
// takes the place of a good one.
func TestAnEmptiedDataDirectoryIsRefusedByEveryCommand(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p, err := harness.New(t.TempDir()) // each command finds the store as it is
	house.Need(t, err)
	one := merchantOf(t, p, "acme")
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	good, _ := place.Backup(t)
	store := filepath.Join(p.DataDir, "engine", "store")
	aside := filepath.Join(t.TempDir(), "store")
	house.Need(t, os.Rename(store, aside))
	for _, args := range [][]string{
		{"account", "list"}, {"serve", "--listen", "127.0.0.1:0"}, {"backup", "--to", place.Place, "--keep", "1"},
		{"account", "add", "other", "--name", "Other"}, {"restore", "--from", place.Place}, {"doctor"}, {"account", "list"},
	} {
		if r := p.Run(args...); r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, "is empty") || !strings.Contains(r.Stdout+r.Stderr, "identity.json") {
			t.Errorf("%s: %s", strings.Join(args, " "), r)
		}
	}
	if ids := place.Listed(t); len(ids) != 1 || ids[0] != good {
		t.Errorf("the place has the backups %v, expected %s", ids, good)
	}
	house.Need(t, os.RemoveAll(store))
	house.Need(t, os.Rename(aside, store))
	server := house.Serve(t, p)
	one.Ask.Address = server.Address
	house.CheckAll(t, one.Ask, one.Model)

	// A restored one is another database, and one that is new says so.
	restored := place.Restore(t)
	if r := restored.Run("account", "list"); r.Code != 0 {
		t.Fatalf("account list: %s", r)
	}
	if a, b := identityOf(t, p), identityOf(t, restored); a == b {
		t.Errorf("a restored data directory has the identity of the first one, %s", a)
	}
	if log := house.Serve(t, house.EmptyProgram(t)).Log(); !strings.Contains(log, "the database is new and empty") {
		t.Errorf("serve on a new data directory says %s", log)
	}
	if strings.Contains(server.Log(), "the database is new and empty") {
		t.Errorf("serve on a data directory with an account says %s", server.Log())
	}
}

func identityOf(t *testing.T, p *harness.Program) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.DataDir, "identity.json"))
	house.Need(t, err)
	var known map[string]string
	house.Need(t, json.Unmarshal(text, &known))
	return known["embedded engine"]
}

// A shard that was replaced by an empty server is refused with its accounts, and
// each of them is restored to another shard.
func TestAnEmptiedShardTakesItsOwnAccountsAlone(t *testing.T) {
	t.Parallel()
	c := ownCluster(t)
	on := map[int]*house.Tenant{}
	for i := 0; len(on) < len(c.shards); i++ {
		one := merchantOf(t, c.Program, strings.Repeat("e", i+1))
		on[c.home(t, one.Files.ID)] = one
	}
	place := house.Copied{Program: c.Program, Place: t.TempDir(), More: nil}
	place.Backup(t)
	var late *house.Tenant // that no backup has
	for i := 0; late == nil; i++ {
		if one := merchantOf(t, c.Program, strings.Repeat("l", i+1)); c.home(t, one.Files.ID) == 2 {
			late = one
		}
	}
	server := house.Serve(t, c.Program)
	for _, one := range on {
		one.Ask.Address = server.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
	for table := range strings.Lines(c.at(t, 2, "SHOW TABLES")) {
		c.at(t, 2, "DROP TABLE "+strings.TrimSpace(table)+" SYNC")
	}
	refused := func() {
		t.Helper()
		if a := house.Get(t, on[2].Ask, "/api/v1/summary?range=all_time"); a.Status != 503 {
			t.Errorf("an account of the shard that was emptied is answered %s", a)
		}
		house.CheckAll(t, on[1].Ask, on[1].Model)
	}
	refused()
	if r := c.Run("account", "list"); r.Code != 0 {
		t.Errorf("account list: %s", r)
	}
	refused()
	if r := c.Run("backup", "--to", place.Place, "--keep", "1"); r.Code == 0 || !strings.Contains(r.Stderr, "shard 2") {
		t.Errorf("a backup of an emptied shard: %s", r)
	}
	if r := c.Run("doctor"); r.Code == 0 || !strings.Contains(r.Stdout, on[2].Files.ID) {
		t.Errorf("doctor of an emptied shard: %s", r)
	}
	place.PutRight(t, on[2].Files.ID)
	house.CheckAll(t, on[2].Ask, on[2].Model)
	giveUp := func(account *house.Tenant, more ...string) harness.Result {
		return c.Run(append([]string{"account", "move", account.Files.ID, "--shard", "1"}, more...)...)
	}
	if r := giveUp(late); r.Code == 0 || !strings.Contains(r.Stderr, "--lost") {
		t.Errorf("a move from an emptied shard: %s", r)
	}
	if r := giveUp(late, "--lost"); r.Code != 0 {
		t.Errorf("an account without a backup is not given up: %s", r)
	}
	if r := giveUp(on[1], "--lost"); r.Code == 0 || !strings.Contains(r.Stderr, "is on shard 1, which is there") {
		t.Errorf("an account that is there is given up: %s", r)
	}
	if r := c.Run("shards"); r.Code != 0 {
		t.Errorf("no account is on the lost shard, and the empty server does not take its place: %s", r)
	}
	late.Ask.Address = house.Serve(t, c.Program).Address
	if a := house.Get(t, late.Ask, "/api/v1/summary?range=all_time"); a.Status != 200 {
		t.Errorf("the account that was given up: %s", a)
	}
	late.Model = model.New()
	loadSale(t, c.Program, late)
	house.CheckAll(t, late.Ask, late.Model)
	house.CheckAll(t, on[1].Ask, on[1].Model)
}

// Where an older copy of a server's disk was put back, loads after it have the numbers of those
// that were answered before. What the disk lost is missed before an answer lacks it.
func TestARestartBetweenTwoRequestsIsNoticed(t *testing.T) {
	t.Parallel()
	c := ownServers(t, func() ([]*containers.ClickHouse, error) {
		server, err := harness.NewServer()
		return []*containers.ClickHouse{server}, err
	})
	c.Program = programAt(t, c.shards[0], "clickhouse", c.shards[0].Native, "")
	one := merchantOf(t, c.Program, "put-back")
	one.Ask.Address = house.Serve(t, c.Program).Address
	restate := func(cost string) (dir string) {
		dir = t.TempDir()
		report := house.SpPair("restated-"+cost, "701", house.DaysAgo(12), 3, time.Now())
		report.Rows[0]["cost"] = json.Number(cost)
		report.Write(t, dir)
		return dir
	}
	restart := func() {
		house.Need(t, c.shards[0].Stop(t.Context()))
		house.Need(t, c.shards[0].Start(t.Context()))
	}
	tables, kept := strings.Fields(c.at(t, 1, "SHOW TABLES")), harness.Database("kept")+"."
	c.at(t, 1, "CREATE DATABASE "+strings.Trim(kept, "."))
	for _, table := range tables {
		c.at(t, 1, "CREATE TABLE "+kept+table+" AS "+table)
		c.at(t, 1, "INSERT INTO "+kept+table+" SELECT * FROM "+table)
	}
	house.Load(t, c.Program, one, restate("7.77"))
	house.CheckAll(t, one.Ask, one.Model)
	const all = "/api/v1/summary?range=all_time"
	answered := house.Get(t, one.Ask, all)
	for _, table := range tables {
		c.at(t, 1, "TRUNCATE TABLE "+table)
		c.at(t, 1, "INSERT INTO "+table+" SELECT * FROM "+kept+table)
	}
	done, err := c.Load(one.Files.ID, restate("8.88"))
	house.Need(t, err)
	if done.Code != 0 {
		t.Fatalf("the load after it: %s", done.Result)
	}
	restart()
	fresh := harness.Client{Key: one.Ask.Key, Address: house.Serve(t, c.Program).Address}
	// A server that looked for its database for long takes it for away as long again.
	var first harness.Answer
	house.Eventually(t, "an answer after the restart", func() bool { first = house.Get(t, one.Ask, all); return first.Status != 503 })
	if now := house.Get(t, fresh, all); !bytes.Equal(first.Body, now.Body) {
		t.Errorf("the first answer after the restart is %s, the restored one says %s", first, now)
	}
	house.SameBytes(t, one.Ask, fresh, house.Everything())
	if now := house.Get(t, fresh, all); bytes.Equal(now.Body, answered.Body) {
		t.Errorf("the other load has the same figures: %s", now)
	}
	c.at(t, 1, "ALTER TABLE facts DELETE WHERE day = toDate('"+house.DaysAgo(11)+"') SETTINGS mutations_sync = 2")
	restart()
	some := "/api/v1/report?dimensions=campaign,product&start_date=" + house.DaysAgo(12) + "&end_date=" + house.DaysAgo(10)
	if a := house.Get(t, one.Ask, some); a.Status != 503 || !strings.Contains(string(a.Body), `"engine_unavailable"`) {
		t.Errorf("a day that the disk lost meanwhile is missing in %s", a)
	}
}
