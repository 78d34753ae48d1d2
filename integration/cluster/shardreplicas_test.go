package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/containers"
	"adlens/integration/harness"
	"adlens/integration/house"
)

// Any one of three replicas may be lost: loads and answers go on, without a wrong or a refused
// answer. Without two, nothing is answered that could lack something.
func TestALostReplicaLosesNothing(t *testing.T) {
	if os.Getenv("ADLENS_TEST_STORE") != "replicas" {
		t.Skip("three more servers and a ZooKeeper are too much beside all other tests: make test-replicas")
	}
	t.Parallel()
	c := ownServers(t, harness.NewReplicas)
	var opening sync.WaitGroup // the servers' tables are made by all who come first
	for range 3 {
		opening.Go(func() {
			if made := c.Run("account", "list"); made.Code != 0 {
				t.Errorf("one of those that make the tables at once: %s", made)
			}
		})
	}
	opening.Wait()
	figures, lists := house.FiguresAndLists(t, c.Program, house.Seed(t), 10)
	server, err := c.Serve("--figure-memory", "0", "--answer-cache", "0") // each answer is the replicas'
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, server.Stop()) })
	figures.Ask.Address, lists.Ask.Address = server.Address, server.Address
	house.CheckAll(t, figures.Ask, figures.Model)

	asked := house.Questions(rand.New(rand.NewPCG(house.Seed(t), 61)), lists)
	before := make([]harness.Answer, len(asked))
	for i, q := range asked {
		before[i] = house.Get(t, lists.Ask, "/api/v1"+q.String())
	}
	var done atomic.Bool
	answered := make(chan int)
	go func() {
		n := 0
		for ; !done.Load(); n++ {
			i := n % len(asked)
			if a := house.Get(t, lists.Ask, "/api/v1"+asked[i].String()); a.Status != before[i].Status || string(a.Body) != string(before[i].Body) {
				t.Errorf("%s while replicas are lost: %s\nbefore: %s\n%s", asked[i], a, before[i], server.Log())
				break
			}
			time.Sleep(10 * house.Breath)
		}
		answered <- n
	}()
	c.loadPast(t, 2, figures)
	house.Need(t, c.shards[0].Stop(t.Context()))
	house.CheckAll(t, figures.Ask, figures.Model)
	expectReplicas := func(want string) {
		t.Helper()
		if r := c.Run("doctor", "--quick"); !regexp.MustCompile(`(?m)^` + want).MatchString(r.Stdout) {
			t.Errorf("doctor does not say %s: %s", want, r)
		}
	}
	expectReplicas(`warning +replicas +shard 1: \S+: .*`)
	house.Need(t, c.shards[0].Start(t.Context()))
	c.fetch(t, 2, true)
	expectReplicas(`ok +replicas +3 replicas with all tables`)
	for i, replica := range c.shards {
		more := figures.Take(1)
		loaded := make(chan harness.Result)
		go func() { loaded <- c.Run(c.LoadArgs(figures.Files.ID, more...)...) }()
		time.Sleep(time.Duration(rand.Float64() * float64(2*time.Second)))
		house.Need(t, replica.Kill(t.Context()))
		t.Logf("load while replica %d was lost: exit code %d", i+1, (<-loaded).Code)
		figures.Model.Load(more...)
		if done, err := c.Load(figures.Files.ID, more...); err != nil || done.Code != 0 {
			t.Errorf("repeated load: %v %s", err, done.Result)
		}
		house.CheckAll(t, figures.Ask, figures.Model)
		house.Need(t, replica.Start(t.Context()))
		house.CheckAll(t, figures.Ask, figures.Model)
		if t.Failed() {
			t.Fatalf("replica %d", i+1)
		}
	}
	// A new server in the place of a lost one has nothing. While Keeper still has the lost one
	// under its name, only the others answer and load; then it gets everything from them.
	c.setAside(t, 1)
	if r := c.Run("account", "list"); r.Code != 0 {
		t.Errorf("account list while a replica cannot make its tables: %s", r)
	}
	expectReplicas(`warning +replicas +shard 1: \S+ has step 0 of \d+`)
	house.CheckAll(t, figures.Ask, figures.Model)
	house.Load(t, c.Program, figures, figures.Take(1)...)
	house.CheckAll(t, figures.Ask, figures.Model)
	c.as(t, containers.Owner, 1, "DROP DATABASE aside SYNC")
	house.Load(t, c.Program, figures, figures.Take(1)...)
	for of := "SELECT count() FROM facts"; c.at(t, 1, of) != c.at(t, 2, of); {
		time.Sleep(100 * time.Millisecond)
	}
	done.Store(true)
	t.Logf("%d answers while replicas were lost", <-answered)
	c.askPast(t, 2, server)

	for _, replica := range c.shards[1:] {
		house.Need(t, replica.Stop(t.Context()))
	}
	for c.as(t, containers.Owner, 1, "SELECT max(active_replicas) FROM system.replicas") != "1" {
		time.Sleep(100 * time.Millisecond)
	}
	more := figures.Take(1)
	if r := c.Run(c.LoadArgs(figures.Files.ID, more...)...); r.Code == 0 {
		t.Errorf("one replica of three took a load: %s", r)
	}
	for _, q := range house.Everything() {
		if a := house.Get(t, figures.Ask, "/api/v1"+q.String()); a.Status != 503 || !strings.Contains(string(a.Body), `"engine_unavailable"`) {
			house.Check(t, figures.Ask, figures.Model, q)
		}
	}
	for _, replica := range c.shards[1:] {
		house.Need(t, replica.Start(t.Context()))
	}
	for until := time.Now().Add(harness.Patience); house.Get(t, figures.Ask, "/api/v1/summary").Status != 200 && time.Now().Before(until); {
		time.Sleep(100 * time.Millisecond)
	}
	house.Load(t, c.Program, figures, more...)
	house.CheckAll(t, figures.Ask, figures.Model)
	if r := c.Run("doctor"); !strings.Contains(r.Stdout, "0 failed") {
		t.Errorf("doctor: %s", r)
	}
	// Empty servers in the place of all are refused, and get no tables.
	for replica := range c.shards {
		c.setAside(t, replica+1)
	}
	house.MustRefuse(t, "empty replicas", c.Run("account", "list"), "is empty", "identity.json")
	for replica := range c.shards {
		if made := c.at(t, replica+1, "SHOW TABLES"); made != "" {
			t.Errorf("replica %d, which is refused, got %s", replica+1, made)
		}
	}
	another, err := harness.NewAt(t.TempDir(), c.Settings...)
	house.Need(t, err)
	house.MustRefuse(t, "tables that Keeper has", another.Run("account", "list"), "Keeper has them already", "SYSTEM DROP REPLICA")
}

// An account moves between a shard with replicas and one without. A replica that lacks where it
// is now, although it has a newer row of that table, sends no request to its old place.
func TestAnAccountMovesBetweenShardsWithReplicas(t *testing.T) {
	if os.Getenv("ADLENS_TEST_STORE") != "replicas" {
		t.Skip("four more servers and a ZooKeeper are too much beside all other tests: make test-replicas")
	}
	t.Parallel()
	c := ownServers(t, func() ([]*containers.ClickHouse, error) { return harness.NewShards(3, 1) })
	figures, lists := house.FiguresAndLists(t, c.Program, house.Seed(t), 4)
	server, err := c.Serve("--figure-memory", "0", "--answer-cache", "0")
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, server.Stop()) })
	figures.Ask.Address, lists.Ask.Address = server.Address, server.Address
	house.CheckAll(t, figures.Ask, figures.Model)
	house.Need(t, c.shards[0].Stop(t.Context()))
	house.CheckAll(t, figures.Ask, figures.Model)
	house.Need(t, c.shards[0].Start(t.Context()))
	c.wantUsed(t, 2)

	for _, one := range []*house.Tenant{figures, lists} {
		place := "SELECT argMax(shard, version) FROM placements WHERE account_id = '" + one.Files.ID + "'"
		for range 2 {
			from := c.at(t, 1, place)
			to := map[string]string{"1": "2", "2": "1"}[from]
			c.as(t, containers.Owner, 2, "SYSTEM STOP FETCHES placements")
			moved := make(chan harness.Result)
			go func() { moved <- c.Run("account", "move", one.Files.ID, "--shard", to) }()
			house.Eventually(t, "the account has its new place", func() bool { return c.at(t, 1, place) == to })
			c.at(t, 2, "INSERT INTO placements SELECT * REPLACE('another' AS account_id) FROM placements LIMIT 1 SETTINGS insert_quorum = 2, insert_quorum_parallel = 0")
			if now := c.at(t, 2, place+" SETTINGS select_sequential_consistency = 1"); now != from {
				t.Fatalf("replica 2 has the place %s", now)
			}
			if r := <-moved; r.Code != 0 {
				t.Fatalf("move: %s", r)
			}
			c.check(t, figures, lists)
			c.as(t, containers.Owner, 2, "SYSTEM START FETCHES placements")
			c.at(t, 2, "ALTER TABLE placements DELETE WHERE account_id = 'another' SETTINGS mutations_sync = 2")
			house.Load(t, c.Program, figures, figures.Take(1)...)
			c.check(t, figures, lists)
		}
	}
	if r := c.Run("doctor"); !strings.Contains(r.Stdout, "0 failed") {
		t.Errorf("doctor: %s", r)
	}
	c.restoreOver(t, figures, lists)
}

// restoreOver restores accounts into another database, figures over what an earlier restore of
// them has left, which ended before the account itself was there.
func (c cluster) restoreOver(t *testing.T, figures, lists *house.Tenant) {
	t.Helper()
	place, other := t.TempDir(), clusterAt(t, c.shards)
	restore := func(id string) {
		t.Helper()
		if r := other.Run("restore", "--from", place, "--account", id); r.Code != 0 {
			t.Fatalf("restore: %s", r)
		}
	}
	if r := c.Run("backup", "--to", place); r.Code != 0 {
		t.Fatalf("backup: %s", r)
	}
	restore(lists.Files.ID)
	of := " FROM " + c.Database() + ".api_keys WHERE account_id = '" + figures.Files.ID + "' SETTINGS insert_quorum = 2, insert_quorum_parallel = 0"
	for _, left := range []string{"restoring SELECT DISTINCT account_id, 'left'", "api_keys SELECT *", "api_key_uses SELECT key_id, created_at"} {
		other.at(t, 1, "INSERT INTO "+left+of)
	}
	restore(figures.Files.ID)
	server, err := other.Serve()
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, server.Stop()) })
	figures.Ask.Address, lists.Ask.Address = server.Address, server.Address
	c.check(t, figures, lists)
}

// check compares all answers of figures and of lists with their models.
func (c cluster) check(t *testing.T, figures, lists *house.Tenant) {
	t.Helper()
	house.CheckAll(t, figures.Ask, figures.Model)
	house.CheckLists(t, lists)
}

// wantUsed fails where no program is connected to a replica.
func (c cluster) wantUsed(t *testing.T, replica int) {
	t.Helper()
	if used := c.as(t, containers.Owner, replica, "SELECT value FROM system.metrics WHERE metric = 'TCPConnection'"); used == "0" {
		t.Fatalf("no program uses replica %d", replica)
	}
}

// loadPast loads a report of which one replica lacks the figures, although it has newer rows of
// the same tables: what a large load leaves for a moment that a small one follows. ClickHouse
// lets such a replica answer.
func (c cluster) loadPast(t *testing.T, replica int, one *house.Tenant) {
	t.Helper()
	other := replica%len(c.shards) + 1
	partitions := func(replica int) string {
		return c.at(t, replica, "SELECT arraySort(groupUniqArray(table || ' ' || partition_id)) FROM system.parts WHERE active AND database = currentDatabase() AND table IN ('"+strings.Join(fetched, "', '")+"')")
	}
	newest := func(replica, consistency int) string {
		return c.at(t, replica, fmt.Sprint("SELECT max(generation) FROM facts WHERE account_id != 'another' SETTINGS select_sequential_consistency = ", consistency))
	}
	// A report may be older than what is there, or the first of a month, of which the replica could write no row.
	for loaded := false; !loaded; loaded = newest(replica, 0) != newest(other, 0) && partitions(replica) == partitions(other) {
		c.fetch(t, replica, true)
		c.fetch(t, replica, false)
		house.Load(t, c.Program, one, one.Take(1)...)
	}
	for _, table := range fetched {
		for _, partition := range strings.Fields(c.at(t, other, "SELECT DISTINCT partition_id FROM system.parts WHERE active AND database = currentDatabase() AND table = '"+table+"'")) {
			c.at(t, replica, "INSERT INTO "+table+" SELECT * REPLACE('another' AS account_id) FROM "+table+" WHERE _partition_id = '"+partition+"' LIMIT 1 SETTINGS insert_quorum = 2, insert_quorum_parallel = 0")
		}
	}
	if lacks, has := newest(replica, 1), newest(other, 1); lacks == has {
		t.Fatalf("replica %d has generation %s", replica, has)
	}
}

// setAside empties a replica of which Keeper still has everything.
func (c cluster) setAside(t *testing.T, replica int) {
	t.Helper()
	c.as(t, containers.Owner, replica, "CREATE DATABASE aside")
	for _, table := range strings.Fields(c.at(t, replica, "SHOW TABLES")) {
		c.as(t, containers.Owner, replica, "RENAME TABLE "+table+" TO aside."+table)
	}
}

// askPast asks a server, which uses a replica, with the key of an account that the replica lacks,
// although it has a newer one. A wrong question is refused before figures are looked for, which
// alone would have the replica catch up with all tables.
func (c cluster) askPast(t *testing.T, replica int, server *harness.Server) {
	t.Helper()
	c.wantUsed(t, replica)
	ask := func(key string) {
		t.Helper()
		if a := house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/summary?period=never"); a.Status != 400 {
			t.Error(a)
		}
	}
	early, err := c.Account("early")
	house.Need(t, err)
	ask(early)
	c.as(t, containers.Owner, replica, "SYSTEM STOP FETCHES accounts")
	late, err := c.Account("late")
	house.Need(t, err)
	c.at(t, replica, "INSERT INTO accounts SELECT * REPLACE('another' AS account_id) FROM accounts LIMIT 1 SETTINGS insert_quorum = 2, insert_quorum_parallel = 0")
	if c.at(t, replica, "SELECT count() FROM accounts WHERE account_id = 'late' SETTINGS select_sequential_consistency = 1") != "0" {
		t.Fatalf("replica %d has the account", replica)
	}
	ask(late)
	c.as(t, containers.Owner, replica, "SYSTEM START FETCHES accounts")
	c.at(t, replica, "ALTER TABLE accounts DELETE WHERE account_id = 'another' SETTINGS mutations_sync = 2")
}

// fetched are tables of figures.
var fetched = []string{"facts", "day_totals", "month_products", "month_ad_groups", "year_products", "year_ad_groups"}

// fetch lets a replica have the rows of figures that came to others, or not.
func (c cluster) fetch(t *testing.T, replica int, on bool) {
	t.Helper()
	for _, table := range fetched {
		if !on {
			c.as(t, containers.Owner, replica, "SYSTEM STOP FETCHES "+table)
			continue
		}
		c.as(t, containers.Owner, replica, "SYSTEM START FETCHES "+table)
		c.at(t, replica, "ALTER TABLE "+table+" DELETE WHERE account_id = 'another' SETTINGS mutations_sync = 2")
	}
}
