package faults_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// A proxy stops sending requests to a server that says that it is not ready.
// None that was sent before fails, and none is cut.
func TestStoppingUnderLoadFailsNoRequest(t *testing.T) {
	t.Parallel()
	w := openWard(t, t.TempDir(), 1)
	w.start(t, append(withoutMemory, "--drain-delay", "3s")...)
	one := w.tenants[0]
	// The days are fixed, so that the answer is one whenever it is requested.
	days := house.Question{Path: "/reports/products", Query: url.Values{"start_date": {house.DaysAgo(120)}, "end_date": {house.DaysAgo(1)}, "page_size": {"all"}}}
	want, err := house.Expected(one.Model, days, time.Now())
	house.Need(t, err)
	var ready, stopping atomic.Bool
	ready.Store(true)
	var answered, late atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			connections := &http.Transport{}
			defer connections.CloseIdleConnections()
			for client := (&http.Client{Transport: connections}); ready.Load(); {
				if !getsWhole(t, client, one.Ask, days, want) {
					return
				}
				answered.Add(1)
				if stopping.Load() {
					late.Add(1)
				}
			}
		})
	}
	<-time.After(time.Second)
	ended := make(chan error)
	go func() { ended <- w.server.Stop() }()
	if r := w.awaits(t, "draining"); r.http != 503 {
		t.Errorf("readiness says %+v", r)
	}
	stopping.Store(true)
	<-time.After(500 * time.Millisecond) // a proxy looks once in a while
	ready.Store(false)
	clients.Wait()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.server = nil
	t.Logf("%d answers, %d of them after SIGTERM", answered.Load(), late.Load())
	if late.Load() == 0 {
		t.Error("nothing was answered while the server drained")
	}
}

// getsWhole asks over a client's own connections, and reports whether the answer
// is the one that is wanted.
func getsWhole(t *testing.T, client *http.Client, ask harness.Client, q house.Question, want any) bool {
	request, err := http.NewRequest(http.MethodGet, ask.Address+"/api/v1"+q.String(), nil)
	if err != nil {
		t.Error(err)
		return false
	}
	request.Header.Set("Authorization", "Bearer "+ask.Key)
	response, err := client.Do(request)
	if err != nil {
		t.Errorf("a request failed: %v", err)
		return false
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("status %d, %v: %.300s", response.StatusCode, err, body)
		return false
	}
	got, err := model.Decode(body)
	if err != nil {
		t.Errorf("half an answer: %v", err)
		return false
	}
	if lines := model.Diff(want, got); len(lines) > 0 {
		t.Errorf("the answer is not the model's: %v", lines[:min(len(lines), 5)])
		return false
	}
	return true
}

// A load of a command of its own goes on when the server beside it ends.
func TestALoadOutlivesTheServerBesideIt(t *testing.T) {
	t.Parallel()
	w := openWard(t, t.TempDir(), 1)
	w.start(t)
	one := w.tenants[0]
	paths := one.Take(8)
	loader := w.Command(t.Context(), w.LoadArgs(one.Files.ID, paths...)...)
	house.Need(t, loader.Start())
	<-time.After(200 * time.Millisecond)
	house.Need(t, w.server.Signal(syscall.SIGTERM))
	if err := loader.Wait(); err != nil {
		t.Errorf("the load beside a server that stopped: %v", err)
	}
	one.Model.Load(paths...)
	w.start(t)
	w.isWhole(t)
	w.stop(t)
}
