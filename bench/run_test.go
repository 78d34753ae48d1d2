package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adlens/internal/engine"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked()
	os.Exit(m.Run())
}

// A short run generates, loads, restates, fills the plain table, and compares
// every answer, as a long one does; it ends at the first difference.
func TestAShortRunMeasuresEveryRequest(t *testing.T) {
	t.Parallel()
	program := cmp.Or(os.Getenv("ADLENS_BIN"), filepath.Join(t.TempDir(), "adlens"))
	if os.Getenv("ADLENS_BIN") == "" {
		if said, err := exec.Command("go", "build", "-o", program, "../cmd/adlens").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, said)
		}
	}
	output := filepath.Join(t.TempDir(), "measured.json")
	err := runBench(t.Context(), []string{"-adlens", program, "-json", output, "-peers", "raw", "-rows", "60000", "-products", "100", "-small-accounts", "1",
		"-years", "2", "-rounds", "1", "-clients", "0", "-quiet"})
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Questions []*Measured }
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Questions) < 50 {
		t.Errorf("%d requests were measured", len(r.Questions))
	}
	for _, q := range r.Questions {
		if len(q.Times) != 5 {
			t.Errorf("%s was asked of %d contestants, expected api, repeated, not modified, engine and raw", q.Question, len(q.Times))
		}
	}
}
