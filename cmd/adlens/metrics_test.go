package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/internal/auth"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/metrics"
	"adlens/internal/redis"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
)

func TestTheTableOfMetricsHasAllOfThem(t *testing.T) {
	m := metrics.New(limitNames, fileStatuses)
	addBuildMetric(m)
	(&data{}).addDatabaseMetrics(m)
	(&inspector{}).addIntegrityMetrics(m)
	(&limits{}).addLimitMetrics(m)
	refreshers{}.addRefreshMetrics(m)
	watchMemories(m, nil, nil)
	addReadyMetric(m, nil)
	addAssistantMetrics(m, nil)
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Metric | Labels | What it shows |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for label, values := range map[string][]string{"limit": limitNames, "status": fileStatuses} {
		_, row, _ := strings.Cut(table, "_total` | `"+label+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if got := regexp.MustCompile("`([a-z]+)`").FindAllString(row, -1); "`"+strings.Join(values, "` `")+"`" != strings.Join(got, " ") {
			t.Errorf("docs/operating.md has the values %v of %s, expected %v", got, label, values)
		}
	}
	var named []string
	for _, found := range regexp.MustCompile("`(adlens_[a-z_]+)`").FindAllStringSubmatch(table, -1) {
		named = append(named, found[1])
	}
	slices.Sort(named)
	if diff := cmp.Diff(m.ListNames(), named); diff != "" {
		t.Errorf("docs/operating.md has other metrics than the program:\n%s", diff)
	}
}

// metricsShown are the lines of metrics.
func metricsShown(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- m.Serve(listener) }()
	answer, err := http.Get("http://" + listener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return "\n" + string(text)
}

// Alerts are about these: each must be of what its name says.
func TestTheAgesOfLoadsAndRatesAreShown(t *testing.T) {
	d, _ := home(t)
	i := d.newInspector(zap.NewNop())
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	i.restarts, i.ages = 6, audit.Ages{NewestLoad: at(11), OldestLoad: at(12), OldestRefresh: at(13), NewestRate: at(14), NewestDay: at(15), OldestDay: at(16),
		Connections: []audit.ConnectionCount{{Region: "EU", Accepted: true, Count: 2}, {Region: "EU", Count: 3}}}
	i.replicas = []audit.Replica{{Shard: 1}, {Shard: 1}, {Shard: 1, Err: errors.New("away")}, {Shard: 2, Schema: schema.State{Newest: 1}}}
	m := metrics.New(limitNames, fileStatuses)
	i.addIntegrityMetrics(m)
	text := metricsShown(t, m)
	for _, want := range []string{"engine_restarts_total 6", "damaged_accounts 0",
		"newest_load_timestamp_seconds 11", "oldest_load_timestamp_seconds 12", "oldest_refresh_timestamp_seconds 13", "newest_rate_timestamp_seconds 14",
		"newest_day_timestamp_seconds 15", "oldest_day_timestamp_seconds 16",
		"oldest_rate_timestamp_seconds 0", // of none
		`replicas{shard="1",state="ready"} 2`, `replicas{shard="1",state="not_ready"} 1`, `replicas{shard="2",state="ready"} 0`, `replicas{shard="2",state="not_ready"} 1`,
		`platform_connections{region="EU",state="accepted"} 2`, `platform_connections{region="EU",state="refused"} 3`,
	} {
		if !strings.Contains(text, "\nadlens_"+want+"\n") {
			t.Errorf("%s is not shown", want)
		}
	}
}

func TestAServerSaysWhetherItsLimitsAreShared(t *testing.T) {
	running := miniredis.RunT(t)
	for _, c := range []struct {
		redis  string // "" for none
		shared int
		fault  bool
	}{{"", 0, false}, {running.Addr(), 1, false}, {"127.0.0.1:1", 0, true}} {
		l := &limits{}
		if c.redis != "" {
			var err error
			if l.shared, err = redis.New("redis://"+c.redis, func() string { return "" }, 1, 1, auth.NewLimiter(1, 1), func(error) {}); err != nil {
				t.Fatal(err)
			}
			defer l.shared.Close()
		}
		m := metrics.New(limitNames, fileStatuses)
		l.addLimitMetrics(m)
		if want := fmt.Sprintf("\nadlens_limits_shared %d\n", c.shared); !strings.Contains(metricsShown(t, m), want) || (l.limitFault() != "") != c.fault {
			t.Errorf("with a Redis at %q: expected %q; the fault is %q", c.redis, want, l.limitFault())
		}
	}
}
