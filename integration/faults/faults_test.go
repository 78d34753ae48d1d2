package faults_test

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// ward is a data directory that faults befall, with accounts in it.
type ward struct {
	*harness.Program
	server  *harness.Server
	tenants []*house.Tenant
}

// openWard loads some accounts into a data directory of the test's own. Each
// has reports left for later.
func openWard(t *testing.T, dir string, accounts int) *ward {
	t.Helper()
	return openWardOf(t, dir, accounts, 8*house.Scaled(1))
}

// loadedAtFirst are how many reports of each account a ward begins with.
const loadedAtFirst = 4

// writtenWithFigures writes extracts of which each account's first reports leave
// some figures: empty ones may replace all others, and what has no figures has
// no parts that can be damaged. Seeds that do so are passed over.
func writtenWithFigures(t *testing.T, o extracts.Options) []extracts.Account {
	t.Helper()
	for ; ; o.Seed++ {
		written, err := extracts.Write(t.TempDir(), o)
		house.Need(t, err)
		if !slices.ContainsFunc(written, func(files extracts.Account) bool {
			one := house.Tenant{Files: files, Model: model.New()}
			one.Model.Load(append([]string{files.Base}, one.Take(loadedAtFirst)...)...)
			answer, err := one.Model.Summary(url.Values{"range": {"all_time"}}, o.Now)
			house.Need(t, err)
			return len(answer["by_ad_product"].([]any)) == 0
		}) {
			return written
		}
	}
}

// openWardOf opens a ward whose accounts have so many reports left for later.
func openWardOf(t *testing.T, dir string, accounts, reports int) *ward {
	t.Helper()
	p, err := harness.NewAlone(dir)
	house.Have(t, err)
	t.Cleanup(func() { house.Need(t, p.Close()) })
	p.KeepEngine() // until all is loaded
	defer func() { house.Need(t, p.ReleaseEngine()) }()
	written := writtenWithFigures(t, extracts.Options{Seed: house.Seed(t), Accounts: accounts, Reports: loadedAtFirst + reports, Now: time.Now(), Days: 150})
	w := &ward{Program: p}
	t.Cleanup(func() {
		if w.server != nil {
			w.server.Kill()
		}
		w.engineEnds(t)
	})
	for _, files := range written {
		one := &house.Tenant{Files: files, Model: model.New(), Ask: harness.Client{}}
		one.Ask.Key, err = p.Account(files.ID)
		house.Need(t, err)
		house.Load(t, p, one, append([]string{files.Base}, one.Take(loadedAtFirst)...)...)
		w.tenants = append(w.tenants, one)
	}
	return w
}

func (w *ward) start(t *testing.T, more ...string) {
	t.Helper()
	var err error
	w.server, err = w.Serve(more...)
	house.Need(t, err)
	for _, one := range w.tenants {
		one.Ask.Address = w.server.Address
	}
}

func (w *ward) stop(t *testing.T) {
	t.Helper()
	house.Need(t, w.server.Stop())
	w.server = nil
}

// isWhole demands the model's answers of every account.
func (w *ward) isWhole(t *testing.T) {
	t.Helper()
	for _, one := range w.tenants {
		house.CheckAll(t, one.Ask, one.Model)
	}
}

// readiness is what /readyz says.
type readiness struct {
	http   int
	Status string
	Reason string
	Code   string
	Checks map[string]string
	Age    map[string]*int `json:"age_seconds"`
}

func (w *ward) ready(t *testing.T) readiness {
	t.Helper()
	a, err := harness.Client{Address: w.server.Address}.Get("/readyz")
	house.Need(t, err)
	r := readiness{http: a.Status}
	if err := json.Unmarshal(a.Body, &r); err != nil || (r.Status == "ready") != (a.Status == 200) || (r.Reason == "") != (a.Status == 200) {
		t.Fatalf("readiness is %s: %v", a, err)
	}
	return r
}

// awaits waits until readiness has a code, "" for being ready. Liveness does
// not wait for anything.
func (w *ward) awaits(t *testing.T, code string) readiness {
	t.Helper()
	until := time.Now().Add(harness.Patience)
	for {
		r := w.ready(t)
		if r.Code == code {
			return r
		}
		if time.Now().After(until) {
			t.Fatalf("readiness stays %+v, expected code %q; the server's log:\n%s", r, code, w.server.Log())
		}
		if a := house.Get(t, harness.Client{Address: w.server.Address}, "/healthz"); a.Status != 200 {
			t.Fatalf("liveness is %s", a)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// engineEnds waits until the engine has noticed that its users are dead.
func (w *ward) engineEnds(t *testing.T) {
	t.Helper()
	pid, err := w.EnginePID()
	if err != nil {
		return // there was none
	}
	house.Eventually(t, "the engine has ended", func() bool { return syscall.Kill(pid, 0) != nil })
}

// signalEngine sends a signal to the engine of the data directory.
func (w *ward) signalEngine(t *testing.T, signal syscall.Signal) {
	t.Helper()
	pid, err := w.EnginePID()
	house.Need(t, err)
	house.Need(t, syscall.Kill(pid, signal))
}

// fill takes all space of the file system that a directory is on but some
// bytes, and returns how to give it back.
func fill(t *testing.T, dir string, but int64) (free func()) {
	t.Helper()
	ballast, err := os.Create(dir + "/ballast")
	house.Need(t, err)
	house.Eventually(t, "the disk is full", func() bool {
		// The engine writes too: what was left a moment ago may be less now.
		var stat syscall.Statfs_t
		house.Need(t, syscall.Statfs(dir, &stat))
		return syscall.Fallocate(int(ballast.Fd()), 0, 0, int64(stat.Bavail)*stat.Bsize-but) == nil
	})
	house.Need(t, ballast.Close())
	return func() { house.Need(t, os.Remove(ballast.Name())) }
}
