// Package metrics counts what a server does, for Prometheus. Labels are of
// small closed sets: no account, key, address or text of a caller is in them.
package metrics

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counts of one server.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	files    *prometheus.CounterVec
	rows     prometheus.Counter
	loads    *work
	reads    *work
	refresh  *work
}

// work is something that is asked of the platform in the background.
type work struct {
	ended *prometheus.CounterVec
	last  *prometheus.GaugeVec
	took  prometheus.Histogram
}

// New returns metrics that start at zero: a count that is there from the start can be
// watched, also for its first event. limits are all that Refused counts by, statuses all
// that Loaded does.
func New(limits, statuses []string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "adlens_http_request_duration_seconds", Help: "Requests by route, status and where the answer came from, and how long it took.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"route", "status", "answer"})
	m.refused = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adlens_limit_refusals_total", Help: "Requests of the API and of links that were refused with 429, by the limit that they met."}, []string{"limit"})
	m.files = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adlens_loaded_files_total",
		Help: "Files that this server itself loaded for connected accounts, by what became of them. Loads by other commands are in adlens_newest_load_timestamp_seconds alone."}, []string{"status"})
	m.rows = prometheus.NewCounter(prometheus.CounterOpts{Name: "adlens_loaded_rows_total", Help: "Rows of those files."})
	m.registry.MustRegister(m.requests, m.refused, m.files, m.rows)
	for _, limit := range limits {
		m.refused.WithLabelValues(limit)
	}
	for _, status := range statuses {
		m.files.WithLabelValues(status)
	}
	m.loads = m.newWork("loads", "Loads by this server itself, for connected accounts")
	m.reads = m.newWork("campaign_reads", "Reads of a marketplace's campaigns, ad groups and ads from the platform")
	m.refresh = m.newWork("refreshes", "Refreshes of an account's figures from the platform's reports")
	return m
}

func (m *Metrics) newWork(name, help string) *work {
	w := &work{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adlens_" + name + "_total", Help: help + ", by how they ended."}, []string{"result"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "adlens_" + name + "_last_end_timestamp_seconds",
			Help: help + ": when the last one ended, by how it ended."}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "adlens_" + name + "_duration_seconds", Help: help + ": how long they took.",
			Buckets: prometheus.ExponentialBuckets(1, 4, 8)}),
	}
	for _, result := range []string{resultDone, resultFailed} {
		w.ended.WithLabelValues(result)
	}
	m.registry.MustRegister(w.ended, w.last, w.took)
	return w
}

const (
	resultDone   = "done"
	resultFailed = "failed"
)

func (w *work) end(took time.Duration, err error) {
	result := resultDone
	if err != nil {
		result = resultFailed
	}
	w.ended.WithLabelValues(result).Inc()
	w.last.WithLabelValues(result).SetToCurrentTime()
	w.took.Observe(took.Seconds())
}

// BuildInfo shows what the server was made of, as the labels of a number that is 1.
func (m *Metrics) BuildInfo(labels map[string]string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "adlens_build_info", Help: "1, with what this server was made of as labels.", ConstLabels: labels})
	info.Set(1)
	m.registry.MustRegister(info)
}

// Request counts an answer. The route is the pattern that matched, "" where
// none did; answer says where it came from.
func (m *Metrics) Request(route string, status int, answer string, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status), answer).Observe(took.Seconds())
}

// Gauge shows a number that goes up and down, as it is when it is requested.
func (m *Metrics) Gauge(name, help string, now func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adlens_" + name, Help: help}, now))
}

// ByStates shows numbers that go up and down, by two labels of small closed sets, as
// they are when they are requested.
func (m *Metrics) ByStates(name, help string, labels [2]string, now func() map[[2]string]float64) {
	m.registry.MustRegister(states{prometheus.NewDesc("adlens_"+name, help, labels[:], nil), now})
}

// states collects numbers by two labels.
type states struct {
	desc *prometheus.Desc
	now  func() map[[2]string]float64
}

func (s states) Describe(descs chan<- *prometheus.Desc) { descs <- s.desc }

func (s states) Collect(values chan<- prometheus.Metric) {
	for labels, value := range s.now() {
		values <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, value, labels[:]...)
	}
}

// Counter shows a number that only grows.
func (m *Metrics) Counter(name, help string, total func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "adlens_" + name, Help: help}, total))
}

// Refused counts a request beyond a limit, which is one of few.
func (m *Metrics) Refused(limit string) { m.refused.WithLabelValues(limit).Inc() }

// Loaded counts a load: its files by what became of them, of which there are
// few kinds, and all their rows.
func (m *Metrics) Loaded(files map[string]int, rows int, took time.Duration, err error) {
	for status, n := range files {
		m.files.WithLabelValues(status).Add(float64(n))
	}
	m.rows.Add(float64(rows))
	m.loads.end(took, err)
}

// Memory is what is remembered, and what became of it so far.
type Memory struct {
	Weight, Values        int // bytes, and how many things they are
	Hits, Misses, Dropped uint64
}

// Remembers shows a memory under a name of its own.
func (m *Metrics) Remembers(name string, now func() Memory) {
	m.Gauge(name+"_memory_bytes", "Memory that is taken.", func() float64 { return float64(now().Weight) })
	m.Gauge(name+"_memory_values", "How many things are remembered.", func() float64 { return float64(now().Values) })
	m.Counter(name+"_memory_hits_total", "Questions that were answered from memory.", func() float64 { return float64(now().Hits) })
	m.Counter(name+"_memory_misses_total", "Questions that were not.", func() float64 { return float64(now().Misses) })
	m.Counter(name+"_memory_dropped_total", "What had to make room.", func() float64 { return float64(now().Dropped) })
}

// CampaignRead counts a read of a marketplace's campaigns.
func (m *Metrics) CampaignRead(took time.Duration, err error) { m.reads.end(took, err) }

// Refresh counts a refresh of an account's figures.
func (m *Metrics) Refresh(took time.Duration, err error) { m.refresh.end(took, err) }

// ListNames returns the names of all metrics in order, without those of Go and the process.
func (m *Metrics) ListNames() (names []string) {
	all := make(chan *prometheus.Desc)
	go func() { m.registry.Describe(all); close(all) }()
	for desc := range all {
		_, name, _ := strings.Cut(desc.String(), `fqName: "`)
		if name, _, _ = strings.Cut(name, `"`); strings.HasPrefix(name, "adlens_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Serve answers /metrics on a listener until it is closed.
func (m *Metrics) Serve(l net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	if err := server.Serve(l); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
