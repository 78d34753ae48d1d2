package integration_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// load loads the same paths into program and oracle; both must say the same of
// every report.
func load(t *testing.T, p *harness.Program, one *tenant, paths ...string) {
	t.Helper()
	done, err := p.Load(one.files.ID, paths...)
	need(t, err)
	wantCode := 0
	for _, r := range one.model.Load(paths...) {
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
