package cluster_test

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/containers"
	"adlens/integration/harness"
	"adlens/integration/house"
)

// replicatedShard is a program on one shard of three replicas.
func replicatedShard(t *testing.T) cluster {
	t.Helper()
	keeper, err := containers.StartKeeper(t.Context(), t.TempDir())
	house.Have(t, err)
	t.Cleanup(func() { house.Need(t, keeper.Stop()) })
	replicas, err := harness.NewReplicas(3, keeper.Address)
	house.Have(t, err)
	t.Cleanup(func() {
		for _, replica := range replicas {
			house.Need(t, replica.Remove())
		}
	})
	var hosts []string
	for _, replica := range replicas {
		hosts = append(hosts, replica.Native)
	}
	dir := t.TempDir()
	at := func(user string) string {
		return strings.Replace(replicas[0].Address(user, harness.Database(dir)), hosts[0], strings.Join(hosts, ","), 1)
	}
	p, err := harness.NewAt(dir, "ADLENS_CLICKHOUSE="+at(harness.Writer), "ADLENS_CLICKHOUSE_READER="+at(harness.Reader), "ADLENS_CLUSTER="+containers.Cluster)
	house.Need(t, err)
	return cluster{p, replicas}
}

// Any one of three replicas may be lost: loads and answers go on, without a wrong or a refused
// answer. Without two, nothing is answered that could lack something.
func TestALostReplicaLosesNothing(t *testing.T) {
	t.Parallel()
	c := replicatedShard(t)
	figures, lists := house.FiguresAndLists(t, c.Program, house.Seed(t), 4)
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
				t.Errorf("%s while replicas are lost: %s\nbefore: %s", asked[i], a, before[i])
				break
			}
			time.Sleep(house.Breath)
		}
		answered <- n
	}()
	for i, replica := range c.shards {
		house.Need(t, replica.Stop(t.Context()))
		house.Load(t, c.Program, figures, figures.Take(1)...)
		house.CheckAll(t, figures.Ask, figures.Model)
		house.Need(t, replica.Start(t.Context()))
		house.CheckAll(t, figures.Ask, figures.Model)
		if t.Failed() {
			t.Fatalf("replica %d", i+1)
		}
	}
	done.Store(true)
	t.Logf("%d answers while replicas were lost", <-answered)

	for _, replica := range c.shards[:2] {
		house.Need(t, replica.Stop(t.Context()))
	}
	more := figures.Take(1)
	if r := c.Run(append([]string{"load", "--account", figures.Files.ID}, more...)...); r.Code == 0 {
		t.Errorf("one replica of three took a load: %s", r)
	}
	for _, q := range house.Everything() {
		if a := house.Get(t, figures.Ask, "/api/v1"+q.String()); a.Status != 503 || !strings.Contains(string(a.Body), `"engine_unavailable"`) {
			house.Check(t, figures.Ask, figures.Model, q)
		}
	}
	for _, replica := range c.shards[:2] {
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
}
