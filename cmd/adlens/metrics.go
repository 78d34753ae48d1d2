package main

import (
	"strconv"
	"sync/atomic"
	"time"

	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/metrics"
	"adlens/internal/query"
	"adlens/loader"

	"go.uber.org/zap"
)

// The labels of counts that are there from the start.
var (
	limitNames   = []string{auth.LimitMinute, auth.LimitDay, auth.LimitAddress}
	fileStatuses = []string{string(loader.Loaded), string(loader.Unchanged), string(loader.Refused), string(loader.Skipped), string(loader.Failed), string(loader.Waiting)}
)

// addDatabaseMetrics shows what the database has to do.
func (d *data) addDatabaseMetrics(m *metrics.Metrics) {
	m.Gauge("statements_running", "Statements that read from the database now.", func() float64 { return float64(d.Cluster.Work().Running) })
	m.Gauge("statements_queued", "Statements that wait for their turn now.", func() float64 { return float64(d.Cluster.Work().Queued) })
	m.Counter("statements_total", "Statements that read from the database.", func() float64 { return float64(d.Cluster.Work().Statements) })
	m.Counter("statements_seconds_total", "How long they took, all together.", func() float64 { return d.Cluster.Work().Took.Seconds() })
	m.Counter("statements_waited_seconds_total", "How long they waited for their turns, all together.", func() float64 { return d.Cluster.Work().Waited.Seconds() })
	m.Counter("statements_refused_total", "Statements that did not get a turn in time.", func() float64 { return float64(d.Cluster.Work().Refused) })
}

// serveMetrics shows metrics at an address, or nowhere.
func serveMetrics(address string, m *metrics.Metrics, log *zap.Logger) (end func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := listenOn("--metrics-listen", address)
	if err != nil {
		return nil, err
	}
	log.Info("metrics", zap.String("address", "http://"+listener.Addr().String()+"/metrics"))
	go func() {
		if err := m.Serve(listener); err != nil {
			log.Warn("metrics are not shown any more", zap.Error(err))
		}
	}()
	return listener.Close, nil
}

// addAssistantMetrics shows what failed that assistants called.
func addAssistantMetrics(m *metrics.Metrics, failures *atomic.Uint64) {
	m.Counter("assistant_failures_total", "Tools, prompts and resources that failed an assistant, for no fault of the call.", func() float64 { return float64(failures.Load()) })
}

// addReadyMetric shows whether the server answers.
func addReadyMetric(m *metrics.Metrics, isReady func() bool) {
	m.Gauge("ready", "1 where /readyz says that requests should be sent here, else 0.", func() float64 {
		if isReady() {
			return 1
		}
		return 0
	})
}

// addIntegrityMetrics shows what is known about the stored data and its engine.
func (i *inspector) addIntegrityMetrics(m *metrics.Metrics) {
	m.Counter("engine_restarts_total", "Engines that took the place of another since this server started.", func() float64 {
		i.mu.Lock()
		defer i.mu.Unlock()
		return float64(i.restarts)
	})
	m.Gauge("damaged_accounts", "Accounts that are not answered because stored data of them is damaged.", func() float64 { return float64(len(i.Inspector.Damage().Lost)) })
	m.ByStates("platform_connections", "Connections to the platform of all accounts, by region and by whether it took their credentials the last time.", [2]string{"region", "state"}, func() map[[2]string]float64 {
		all := map[[2]string]float64{}
		for region, states := range i.currentHealth().Connections {
			all[[2]string{region, "accepted"}], all[[2]string{region, "refused"}] = float64(states.Accepted), float64(states.Refused)
		}
		return all
	})
	m.ByStates("replicas", "Replicas of each shard that has several, by whether they answer and have all tables.", [2]string{"shard", "state"}, func() map[[2]string]float64 {
		i.mu.Lock()
		defer i.mu.Unlock()
		all := map[[2]string]float64{}
		for _, r := range i.replicas {
			shard := strconv.Itoa(int(r.Shard))
			ready, other := [2]string{shard, "ready"}, [2]string{shard, "not_ready"}
			if !r.IsReady() {
				ready, other = other, ready
			}
			all[ready]++
			all[other] += 0
		}
		return all
	})
	for name, of := range map[string]struct {
		help string
		when func(audit.Ages) time.Time
	}{
		"newest_load":    {"When something was last loaded into any account, by whatever command; 0 for never.", func(a audit.Ages) time.Time { return a.NewestLoad }},
		"oldest_load":    {"The last load of the account that waits longest for one, without canceled and demonstration accounts and those never loaded; rates and lists count; 0 for none.", func(a audit.Ages) time.Time { return a.OldestLoad }},
		"oldest_refresh": {"When reports were last read through the connection that waits longest, or it was connected, if they never were; 0 for none.", func(a audit.Ages) time.Time { return a.OldestRefresh }},
		"newest_day":     {"The newest day with figures of any account; 0 for none.", func(a audit.Ages) time.Time { return a.NewestDay }},
		"oldest_day":     {"The same of the account whose figures end first, without canceled and demonstration accounts; 0 for none.", func(a audit.Ages) time.Time { return a.OldestDay }},
		"newest_rate":    {"The day of the newest rate of exchange that was fetched; 0 for none.", func(a audit.Ages) time.Time { return a.NewestRate }},
		"oldest_rate":    {"The same of the account whose fetched rates end first, without canceled and demonstration accounts; 0 for none.", func(a audit.Ages) time.Time { return a.OldestRate }},
	} {
		m.Gauge(name+"_timestamp_seconds", of.help, func() float64 {
			i.mu.Lock()
			defer i.mu.Unlock()
			if t := of.when(i.ages); !t.IsZero() {
				return float64(t.Unix())
			}
			return 0
		})
	}
}

// addLimitMetrics shows whether limits are shared as they should be.
func (l *limits) addLimitMetrics(m *metrics.Metrics) {
	m.Gauge("limits_shared", "1 where servers share the limits through Redis and it answered the last time, else 0.", func() float64 {
		if l.shared == nil || l.shared.Broken() {
			return 0
		}
		return 1
	})
}

// limitFault says what is wrong with limits that are shared.
func (l *limits) limitFault() string {
	if l.shared != nil && l.shared.Broken() {
		return "Redis does not answer, or refuses; this server holds limits by itself"
	}
	return ""
}

// watchMemories shows what a server remembers, and whether that is of use.
func watchMemories(m *metrics.Metrics, figures *query.Service, answers *answer.Service) {
	m.Remembers("answers", func() metrics.Memory { return metrics.Memory(answers.Remembered()) })
	m.Remembers("figures", func() metrics.Memory { return metrics.Memory(figures.Memories().Figures) })
	m.Remembers("day_totals", func() metrics.Memory { return metrics.Memory(figures.Memories().DayTotals) })
}
