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
	engine.RunIfAsked("test")
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
	for name, c := range map[string]struct {
		more  []string
		least int // requests
	}{
		"without campaigns": {[]string{"-rows", "60000", "-years", "2"}, 50},
		"with campaigns":    {[]string{"-rows", "40000", "-years", "1", "-campaigns", "200", "-requests", "campaign|report|timeline"}, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measureShortly(t, program, c.more, c.least)
		})
	}
}

// measureShortly runs the benchmark and expects so many requests at least.
func measureShortly(t *testing.T, program string, more []string, least int) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "measured.json")
	err := runBench(t.Context(), append([]string{"-adlens", program, "-json", output, "-peers", "raw", "-products", "100", "-small-accounts", "1",
		"-rounds", "1", "-clients", "0", "-quiet"}, more...))
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
	if len(r.Questions) < least {
		t.Errorf("%d requests were measured, expected %d", len(r.Questions), least)
	}
	for _, q := range r.Questions {
		if len(q.Times) != 5 {
			t.Errorf("%s was asked of %d contestants, expected api, repeated, not modified, engine and raw", q.Question, len(q.Times))
		}
	}
}
