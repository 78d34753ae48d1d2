package house

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/model"
)

// IsRightIfAnswered demands the model's answer, or none.
func (one *Tenant) IsRightIfAnswered(t *testing.T, q Question, a harness.Answer) {
	t.Helper()
	if a.Status != 200 {
		return
	}
	got, err := model.Decode(a.Body)
	Need(t, err)
	want, err := Expected(one.Model, q, time.Now())
	Need(t, err)
	if lines := model.Diff(want, got); len(lines) > 0 {
		t.Fatalf("%s is answered wrongly: %v", q, lines[:min(len(lines), 5)])
	}
}

// Take gives the files of some reports that were not loaded yet.
func (one *Tenant) Take(n int) []string {
	var paths []string
	for _, report := range one.Files.Reports[:n] {
		paths = append(paths, report.Files()...)
	}
	one.Files.Reports = one.Files.Reports[n:]
	return paths
}

// Load loads the same paths into program and oracle; both must say the same of
// every report.
func Load(t *testing.T, p *harness.Program, one *Tenant, paths ...string) {
	t.Helper()
	done, err := p.Load(one.Files.ID, paths...)
	Need(t, err)
	wantCode := 0
	for _, r := range one.Model.Load(paths...) {
		if r.Status == model.Refused {
			wantCode = 1
		}
		checkStatus(t, done, r)
	}
	if (done.Code != 0) != (wantCode != 0) {
		t.Errorf("load %v: want refusals %v, got %s", paths, wantCode != 0, done.Result)
	}
}

func checkStatus(t *testing.T, done harness.Loading, want model.Result) {
	t.Helper()
	base, isReport := strings.CutSuffix(filepath.Base(want.Path), ".report.json")
	status, fault := done.Status(base)
	right := status == want.Status
	if want.Status != model.Refused && (want.Either || !isReport) {
		// For tables that are upserted the contract does not tell loaded from unchanged.
		right = status == model.Loaded || status == model.Unchanged
	}
	if !right {
		t.Errorf("%s: want %s (either: %v), got %q %s", want.Path, want.Status, want.Either, status, fault)
	}
}

// Tenant is one account with its oracle.
type Tenant struct {
	Files extracts.Account
	Model *model.Account
	Ask   harness.Client
}
