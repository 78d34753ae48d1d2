package cluster_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/containers"
	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// cluster is a program on the shards of a cluster. These tests need one whatever
// ADLENS_TEST_STORE says.
type cluster struct {
	*harness.Program
	shards []*containers.ClickHouse
}

// sharedCluster is a database of the test's own on shards that tests share.
func sharedCluster(t *testing.T) cluster {
	t.Helper()
	shards, err := harness.SharedCluster()
	house.Have(t, err)
	return clusterAt(t, shards)
}

// ownCluster is two shards of the test's own, which it may stop.
func ownCluster(t *testing.T) cluster {
	t.Helper()
	return ownServers(t, harness.NewCluster)
}

func ownServers(t *testing.T, start func() ([]*containers.ClickHouse, error)) cluster {
	t.Helper()
	servers, err := start()
	house.Have(t, err)
	t.Cleanup(func() {
		for _, server := range servers {
			house.Need(t, server.Remove())
		}
	})
	return clusterAt(t, servers)
}

func clusterAt(t *testing.T, shards []*containers.ClickHouse) cluster {
	t.Helper()
	p, err := harness.NewClustered(t.TempDir(), shards)
	house.Need(t, err)
	return cluster{p, shards}
}

// at asks one shard itself, past the program.
func (c cluster) at(t *testing.T, shard int, sql string) string {
	t.Helper()
	return c.as(t, containers.Plain, shard, sql)
}

func (c cluster) as(t *testing.T, user string, shard int, sql string) string {
	t.Helper()
	address := url.URL{Scheme: "http", Host: c.shards[shard-1].HTTP, RawQuery: url.Values{"database": {c.Database()}}.Encode()}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), strings.NewReader(sql))
	house.Need(t, err)
	request.SetBasicAuth(user, containers.Password)
	request.Close = true // a server that was stopped, or idle for long, ends the connections that were kept
	answer, err := http.DefaultClient.Do(request)
	house.Need(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	house.Need(t, err)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s at shard %d: %s", sql, shard, text)
	}
	return strings.TrimSpace(string(text))
}

// figureTables are those whose rows are where their account is.
var figureTables = []string{"commits", "commit_units", "seals", "facts", "day_totals", "month_products", "month_ad_groups", "year_products", "year_ad_groups", "products", "entities", "ledger",
	"number_blocks", "marketplaces", "campaigns", "rules"}

// homes are the shards that have rows of an account, and the rows there.
func (c cluster) homes(t *testing.T, account string) map[int]string {
	t.Helper()
	homes := map[int]string{}
	for shard := 1; shard <= len(c.shards); shard++ {
		var terms []string
		for _, table := range figureTables {
			terms = append(terms, fmt.Sprintf("(SELECT count() FROM %s WHERE account_id = '%s')", table, account))
		}
		counts := c.at(t, shard, "SELECT "+strings.Join(terms, ", "))
		if strings.Trim(counts, "0\t") != "" {
			homes[shard] = counts
		}
	}
	return homes
}

// home is the only shard that has rows of an account.
func (c cluster) home(t *testing.T, account string) int {
	t.Helper()
	homes := c.homes(t, account)
	if len(homes) != 1 {
		t.Fatalf("account %s has rows on the shards %v, want one shard; the tables are %v", account, homes, figureTables)
	}
	for shard := range homes {
		return shard
	}
	return 0
}

// move brings an account to the other of two shards.
func (c cluster) move(t *testing.T, account string) {
	t.Helper()
	from := c.home(t, account)
	if r := c.Run("account", "move", account, "--shard", fmt.Sprint(3-from)); r.Code != 0 {
		t.Fatalf("move: %s", r)
	}
	if now := c.home(t, account); now != 3-from {
		t.Fatalf("account %s is on shard %d, want %d", account, now, 3-from)
	}
}

type shardLine struct {
	Shard, Accounts int
	FactRows        int `json:"fact_rows"`
}

func (c cluster) listed(t *testing.T) []shardLine {
	t.Helper()
	r := c.Run("shards", "--json")
	var said struct{ Data []shardLine }
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
		t.Fatalf("shards: %s", r)
	}
	return said.Data
}

func TestAccountsAreSpreadOverTheShardsAndWholeOnOne(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	const accounts = 8
	want := map[int]int{}
	var all []*house.Tenant
	for i := range accounts {
		one := merchantOf(t, c.Program, fmt.Sprintf("spread-%d", i))
		want[c.home(t, one.Files.ID)]++
		all = append(all, one)
	}
	rows := 0
	for _, line := range c.listed(t) {
		if line.Accounts != want[line.Shard] || line.Accounts == 0 {
			t.Errorf("shard %d is reported to have %d accounts, has %d of %d", line.Shard, line.Accounts, want[line.Shard], accounts)
		}
		rows += line.FactRows
	}
	if rows != 3*accounts {
		t.Errorf("the shards are reported to have %d rows of facts, want %d", rows, 3*accounts)
	}
	server := house.Serve(t, c.Program)
	for _, one := range all {
		one.Ask.Address = server.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
	if ages := house.Get(t, harness.Client{Address: server.Address}, "/readyz"); ages.Status != 200 {
		t.Errorf("/readyz: %s", ages)
	}
}

// merchantOf is an account with three sales.
func merchantOf(t *testing.T, p *harness.Program, id string) *house.Tenant {
	t.Helper()
	key, err := p.Account(id)
	house.Need(t, err)
	one := &house.Tenant{Files: extracts.Account{ID: id}, Model: model.New(), Ask: harness.Client{Key: key}}
	loadSale(t, p, one)
	return one
}

func loadSale(t *testing.T, p *harness.Program, one *house.Tenant) {
	t.Helper()
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"701", "US", "USD", "seller"})
	house.SpPair("sale-"+one.Files.ID, "701", house.DaysAgo(12), 3, time.Now()).Write(t, dir)
	house.Load(t, p, one, dir)
}

func TestAMovedAccountAnswersByteForByteAllTheWhile(t *testing.T) {
	t.Parallel()
	from := house.Seed(t)
	c := sharedCluster(t)
	figures, lists := house.FiguresAndLists(t, c.Program, from, 2)
	server := house.Serve(t, c.Program)
	figures.Ask.Address, lists.Ask.Address = server.Address, server.Address
	r := rand.New(rand.NewPCG(from, 43))
	for _, one := range []*house.Tenant{figures, lists} {
		asked := house.Questions(r, one)
		before := make([]harness.Answer, len(asked))
		for i, q := range asked {
			before[i] = house.Get(t, one.Ask, "/api/v1"+q.String())
		}
		moved, stopped := atomic.Bool{}, make(chan int)
		go func() {
			n := 0
			for ; !moved.Load(); n++ {
				i := n % len(asked)
				if a := house.Get(t, one.Ask, "/api/v1"+asked[i].String()); a.Status != before[i].Status || string(a.Body) != string(before[i].Body) {
					t.Errorf("%s while the account moves: %s\nbefore: %s", asked[i], a, before[i])
					break
				}
				time.Sleep(house.Breath)
			}
			stopped <- n
		}()
		c.move(t, one.Files.ID)
		moved.Store(true)
		t.Logf("%d answers during the move", <-stopped)
		for i, q := range asked {
			if a := house.Get(t, one.Ask, "/api/v1"+q.String()); string(a.Body) != string(before[i].Body) || a.Header.Get("ETag") != before[i].Header.Get("ETag") {
				t.Errorf("%s after the move: %s %s\nbefore: %s %s", q, a.Header.Get("ETag"), a, before[i].Header.Get("ETag"), before[i])
			}
		}
	}
	// What is loaded afterwards is visible at once, and goes to the new place.
	house.Load(t, c.Program, figures, figures.Take(1)...)
	house.CheckAll(t, figures.Ask, figures.Model)
	// A load beside a move waits for its turn, and is seen as soon as it ends.
	came := make(chan struct{})
	go func() {
		defer close(came)
		house.Load(t, c.Program, figures, figures.Take(1)...)
		house.CheckAll(t, figures.Ask, figures.Model)
	}()
	if r := c.Run("account", "move", figures.Files.ID, "--shard", fmt.Sprint(3-c.home(t, figures.Files.ID))); r.Code != 0 {
		t.Fatalf("move: %s", r)
	}
	<-came
	c.home(t, figures.Files.ID)
	house.CheckAll(t, figures.Ask, figures.Model)
}

func TestNoKillOfAMoveLosesAnything(t *testing.T) {
	t.Parallel()
	from, rounds := house.Seed(t), house.Scaled(3) // each waits for the lease of the killed move to end
	c := sharedCluster(t)
	figures, _ := house.FiguresAndLists(t, c.Program, from, rounds)
	figures.Ask.Address = house.Serve(t, c.Program).Address
	id := figures.Files.ID
	to := fmt.Sprint(3 - c.home(t, id))
	r := rand.New(rand.NewPCG(from, 47))
	for round := range rounds {
		// Right after a load, a move takes effect 40 seconds later.
		after := time.Duration(r.Int64N(int64(4*time.Second))) + time.Duration(r.IntN(2))*40*time.Second
		house.Killed(t, c.Program, after, "account", "move", id, "--shard", to)
		house.CheckAll(t, figures.Ask, figures.Model)
		house.Load(t, c.Program, figures, figures.Take(1)...)
		house.CheckAll(t, figures.Ask, figures.Model)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	if r := c.Run("account", "move", id, "--shard", to); r.Code != 0 {
		t.Fatalf("move: %s", r)
	}
	if now := fmt.Sprint(c.home(t, id)); now != to {
		t.Errorf("the account is on shard %s, want %s", now, to)
	}
	house.CheckAll(t, figures.Ask, figures.Model)
}

func TestAShardThatIsAwayTakesItsOwnAccountsAlone(t *testing.T) {
	t.Parallel()
	c := ownCluster(t)
	on := map[int]*house.Tenant{}
	for i := 0; len(on) < len(c.shards); i++ {
		one := merchantOf(t, c.Program, fmt.Sprintf("away-%d", i))
		on[c.home(t, one.Files.ID)] = one
	}
	server := house.Serve(t, c.Program)
	for _, one := range on {
		one.Ask.Address = server.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
	away := on[2].Ask
	expectAway := func(ask harness.Client) {
		t.Helper()
		for _, path := range []string{"/summary?range=all_time", "/timeline?range=last_90_days", "/reports/products?range=last_90_days", "/campaigns"} {
			if a := house.Get(t, ask, "/api/v1"+path); a.Status != 503 || !strings.Contains(string(a.Body), `"engine_unavailable"`) {
				t.Errorf("%s of the shard that is away: %s", path, a)
			}
		}
	}
	// One that stands still, or whose machine is gone, refuses no connection.
	goOn, err := c.shards[1].Pause(t.Context())
	house.Have(t, err)
	late := house.Serve(t, c.Program)
	expectAway(harness.Client{Address: late.Address, Key: away.Key})
	house.CheckAll(t, harness.Client{Address: late.Address, Key: on[1].Ask.Key}, on[1].Model)
	house.Need(t, goOn())
	house.Need(t, c.shards[1].Stop(t.Context()))
	expectAway(away)
	// Servers that start meanwhile, loads and keys of the others go on.
	second := on[1].Ask
	second.Address = house.Serve(t, c.Program).Address
	more := t.TempDir()
	house.SpPair("meanwhile", "701", house.DaysAgo(9), 2, time.Now()).Write(t, more)
	house.Load(t, c.Program, on[1], more)
	_, err = c.Key(on[2].Files.ID)
	house.Need(t, err)
	for _, ask := range []harness.Client{on[1].Ask, second} {
		house.CheckAll(t, ask, on[1].Model)
		if a := house.Get(t, harness.Client{Address: ask.Address}, "/readyz"); a.Status != 200 {
			t.Errorf("/readyz: %s", a)
		}
	}
	listed := c.Run("shards")
	house.MustRefuse(t, "shards", listed, "shard 2 of the cluster", "cannot be reached")
	if !regexp.MustCompile(`(?m)^1 .*B$\n2 +\S+ +\d+ +- +-$`).MatchString(listed.Stdout) {
		t.Errorf("what the other shard has is not listed: %s", listed)
	}
	house.MustRefuse(t, "a load", c.Run("load", "--account", on[2].Files.ID, more), "shard 2 of the cluster")
	house.Need(t, c.shards[1].Start(t.Context()))
	house.Load(t, c.Program, on[2], more)
	for until := time.Now().Add(harness.Patience); house.Get(t, away, "/api/v1/summary").Status != 200 && time.Now().Before(until); {
		<-time.After(100 * time.Millisecond)
	}
	for _, one := range on {
		house.CheckAll(t, one.Ask, one.Model)
	}
}

func TestAServerBecomesTheFirstShard(t *testing.T) {
	t.Parallel()
	shards, err := harness.SharedCluster()
	house.Have(t, err)
	single := programAt(t, shards[0], "clickhouse", shards[0].Native, "")
	figures, _ := house.FiguresAndLists(t, single, house.Seed(t), 1)
	before := house.Serve(t, single)
	figures.Ask.Address = before.Address
	asked := house.Questions(rand.New(rand.NewPCG(house.Seed(t), 53)), figures)
	clustered, err := harness.NewAt(single.DataDir, append(single.Settings, "ADLENS_CLUSTER="+containers.Cluster)...)
	house.Need(t, err)
	c := cluster{clustered, shards}
	after := figures.Ask
	after.Address = house.Serve(t, c.Program).Address
	house.SameBytes(t, figures.Ask, after, asked)
	if home := c.home(t, figures.Files.ID); home != 1 {
		t.Errorf("the account is on shard %d before anybody moved it", home)
	}
	c.move(t, figures.Files.ID)
	house.Load(t, c.Program, figures, figures.Take(1)...)
	house.CheckAll(t, after, figures.Model)
	// From now on it is a shard, and is not taken for a database by itself.
	house.MustRefuse(t, "the first shard alone", single.Run("account", "list"), "is shard 1 of cluster", "--cluster "+containers.Cluster)
}

func TestAnEngineGrowsIntoACluster(t *testing.T) {
	t.Parallel()
	from := house.Seed(t)
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, from, 0)
	server := house.Serve(t, p)
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)
	c := sharedCluster(t)
	if r := c.Run("restore", "--from", place.Place); r.Code != 0 {
		t.Fatalf("restore: %s", r)
	}
	grown := house.Serve(t, c.Program)
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = server.Address
		after := one.Ask
		after.Address = grown.Address
		house.SameBytes(t, one.Ask, after, house.Questions(rand.New(rand.NewPCG(from, 59)), one))
		c.home(t, one.Files.ID)
	}
	// And back: a cluster is backed up as anything else is.
	back := house.Copied{Program: c.Program, Place: t.TempDir(), More: nil}
	back.Backup(t)
	again := house.Serve(t, back.Restore(t))
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = again.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
}

func TestAShardIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	merchantOf(t, c.Program, "taken")
	house.MustRefuse(t, "no such cluster", c.Run("account", "list", "--cluster", "none"), `knows no cluster "none"`)
	overHTTP := strings.Replace(strings.Replace(c.shards[0].Address(harness.Writer, c.Database()), "clickhouse://", "http://", 1), c.shards[0].Native, c.shards[0].HTTP, 1)
	house.MustRefuse(t, "over HTTP", c.Run("account", "list", "--clickhouse", overHTTP, "--clickhouse-reader", overHTTP), "native protocol")
	house.MustRefuse(t, "no such shard", c.Run("account", "move", "taken", "--shard", "3"), "--shard 3 is none", "1 to 2")
	house.MustRefuse(t, "no such account", c.Run("account", "move", "taker", "--shard", "1"), `account "taker" does not exist`)
	c.at(t, 2, "TRUNCATE TABLE shard")
	c.at(t, 2, "INSERT INTO shard VALUES (1, 'suite')")
	house.MustRefuse(t, "another shard", c.Run("account", "list"), c.shards[1].Native, "is shard 1", "is taken for shard 2")
	e, err := harness.NewAt(t.TempDir())
	house.Need(t, err)
	house.MustRefuse(t, "a cluster of the embedded engine", e.Run("account", "list", "--cluster", "any"), "--clickhouse", "not given")
}
