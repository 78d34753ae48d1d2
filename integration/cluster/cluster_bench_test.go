package cluster_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
)

// BenchmarkTwoShardsBesideOneServer asks one server and a cluster of two shards
// the same things in turn, with no answer remembered, and loads the same into
// both. Its ratios are the cluster's times over the server's.
func BenchmarkTwoShardsBesideOneServer(b *testing.B) {
	servers, err := harness.SharedServer()
	if err != nil {
		b.Skip(err)
	}
	shards, err := harness.SharedCluster()
	if err != nil {
		b.Skip(err)
	}
	written, err := extracts.Write(b.TempDir(), extracts.Options{Seed: 7, Accounts: 4, Reports: 40, Now: time.Now(), Days: 300})
	must(b, err)
	one, err := harness.NewAt(b.TempDir(), "ADLENS_CLICKHOUSE="+servers.Address(harness.Writer, harness.Database(b.Name())))
	must(b, err)
	two, err := harness.NewClustered(b.TempDir(), shards)
	must(b, err)
	var sides [2]side
	for i, p := range []*harness.Program{one, two} {
		sides[i], err = begin(p, written)
		must(b, err)
		defer sides[i].server.Stop()
	}
	b.Logf("loading: one server %v, two shards %v", sides[0].loading, sides[1].loading)
	for _, path := range []string{"/summary?range=all_time", "/timeline?range=all_time", "/reports/products?range=all_time", "/marketplaces"} {
		b.Run(path, func(b *testing.B) {
			var times [2][]time.Duration
			for b.Loop() {
				round := len(times[0])
				for n := range sides {
					i := (n + round) % 2
					account := len(times[i]) % len(written)
					began := time.Now()
					answer, err := sides[i].clients[account].Get("/api/v1" + path)
					times[i] = append(times[i], time.Since(began))
					if err != nil || answer.Status != 200 {
						b.Fatal(err, answer)
					}
				}
			}
			for i := range times {
				slices.Sort(times[i])
			}
			server, cluster := times[0][len(times[0])/2], times[1][len(times[1])/2]
			b.ReportMetric(float64(server.Microseconds()), "server-p50-us")
			b.ReportMetric(float64(cluster.Microseconds()), "cluster-p50-us")
			b.ReportMetric(float64(cluster)/float64(server), "ratio")
		})
	}
}

// side is one of two that are compared.
type side struct {
	server  *harness.Server
	clients []harness.Client
	loading time.Duration
}

func begin(p *harness.Program, written []extracts.Account) (s side, err error) {
	var keys []string
	for _, account := range written {
		key, err := p.Account(account.ID)
		if err != nil {
			return s, err
		}
		keys = append(keys, key)
		files := []string{account.Base}
		for _, report := range account.Reports {
			files = append(files, report.Files()...)
		}
		began := time.Now()
		if _, err := p.Load(account.ID, files...); err != nil {
			return s, fmt.Errorf("loading %s: %w", account.ID, err)
		}
		s.loading += time.Since(began)
	}
	if s.server, err = p.Serve("--answer-cache", "0"); err != nil {
		return s, err
	}
	for _, key := range keys {
		s.clients = append(s.clients, harness.Client{Address: s.server.Address, Key: key})
	}
	return s, nil
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
