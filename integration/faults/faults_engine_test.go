package faults_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adlens/integration/house"
)

// withoutMemory has every product report read from the engine.
var withoutMemory = []string{"--figure-memory", "0", "--answer-cache", "0"}

var products = house.Question{Path: "/reports/products", Query: url.Values{"range": {"all_time"}, "page_size": {"all"}}}

// Ten clients ask while the engine is killed again and again. A read is
// repeated inside its deadline; who meets two deaths may be told to come back.
func TestAKilledEngineFailsNoClientForGood(t *testing.T) {
	t.Parallel()
	w := openWard(t, t.TempDir(), 1)
	w.start(t, withoutMemory...)
	w.isWhole(t) // the model computes its figures once, before clients need them side by side
	one, kills := w.tenants[0], house.Scaled(4)
	var answered, refused atomic.Int64
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				a, err := one.Ask.Get("/api/v1" + products.String())
				switch {
				case err == nil && a.Status == 200:
					answered.Add(1)
					one.IsRightIfAnswered(t, products, a) // no row twice of a read that was begun once more
				case err == nil && (a.Status == 504 || a.Status == 503 && a.Header.Get("Retry-After") != ""):
					refused.Add(1) // on a machine so busy that the engine needs long to start
				default:
					t.Errorf("want 200, or 503 with Retry-After: %.300s %v", a, err)
					return
				}
			}
		})
	}
	for range kills {
		<-time.After(time.Second)
		house.Need(t, w.KillEngine())
		w.awaits(t, "")
	}
	close(done)
	clients.Wait()
	t.Logf("%d kills: %d answered, %d told to come back", kills, answered.Load(), refused.Load())
	w.isWhole(t)
	w.stop(t)
}

// An engine that stands still answers no request and does not end either.
func TestAFrozenEngineIsReplacedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	w.start(t, append(withoutMemory, "--metrics-listen", "127.0.0.1:0")...)
	w.isWhole(t)
	w.signalEngine(t, syscall.SIGSTOP)
	if r := w.awaits(t, "query_timeout"); !strings.Contains(r.Checks["engine"], "does not answer") {
		t.Errorf("readiness says %+v", r)
	}
	began := time.Now()
	a := house.Get(t, w.tenants[0].Ask, "/api/v1"+products.String())
	if took := time.Since(began); took > 35*time.Second || a.Status == 503 && a.Header.Get("Retry-After") == "" || a.Status != 200 && a.Status != 503 && a.Status != 504 {
		t.Errorf("beside a frozen engine, an answer took %v: %.300s", took, a)
	}
	w.awaits(t, "")
	w.isWhole(t)
	house.Eventually(t, "the restart is counted", func() bool {
		_, text := house.MetricsOf(t, w.server)
		return strings.Contains(text, "\nadlens_engine_restarts_total ") && !strings.Contains(text, "\nadlens_engine_restarts_total 0\n")
	})
	w.stop(t)
}

// No server watches this engine: its only one is stopped like it.
func TestACommandReplacesAFrozenEngine(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	w.start(t)
	engine, err := w.EnginePID()
	house.Need(t, err)
	process, err := os.FindProcess(engine)
	house.Need(t, err)
	t.Cleanup(func() { _ = process.Kill() }) // one that stays stopped would never end, and its number may be another's by then
	house.Need(t, syscall.Kill(w.server.PID(), syscall.SIGSTOP))
	house.Need(t, syscall.Kill(engine, syscall.SIGSTOP))
	old := time.Now().Add(-time.Hour) // it started long ago
	house.Need(t, os.Chtimes(filepath.Join(w.DataDir, "engine", "engine.json"), old, old))
	began := time.Now()
	house.Load(t, w.Program, w.tenants[0], w.tenants[0].Take(1)...)
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("the load took %v", took)
	}
	if now, err := w.EnginePID(); err != nil || now == engine {
		t.Errorf("the engine is still process %d: %v", now, err)
	}
	house.Need(t, syscall.Kill(w.server.PID(), syscall.SIGCONT))
	w.awaits(t, "")
	w.isWhole(t)
	w.stop(t)
}
