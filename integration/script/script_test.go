package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/script"
)

func TestScriptsAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../figures/testdata/scripts/*.txt")
	if err != nil || len(paths) < 6 {
		t.Fatalf("want the scripts, got %d, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC()
			steps, err := script.Parse(string(text), now)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range script.Run(steps, &script.Oracle{Now: now}, t.TempDir()) {
				t.Error(fault)
			}
		})
	}
}

func TestAWrongExpectationIsFound(t *testing.T) {
	t.Parallel()
	const head = "account a\nprofiles\n  1 US USD seller\nreport sp 1 2026-01-01..2026-01-02 2026-01-03T00:00 r\n  2026-01-01 A 1 1 2 0 0\nload\n"
	const request = "get /timeline?start_date=2026-01-01&end_date=2026-01-31\n"
	for _, wrong := range []string{
		"  {\"data\": [{\"spend\": 2.01}]}", "  {\"data\": []}", "  {\"date\": 1}", "  {\"granularity\": \"month\"}",
		"  | date | spend |\n  | 2026-01-01 | 3 |", "  | date |", "  | date |\n  | 2026-01-01 |\n  | 2026-01-02 |",
	} {
		steps, err := script.Parse(head+request+wrong, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		faults := script.Run(steps, &script.Oracle{Now: time.Now()}, t.TempDir())
		if len(faults) != 1 && !strings.Contains(wrong, "2026-01-02") {
			t.Errorf("%s: want one fault, got %q", wrong, faults)
		}
		if len(faults) == 0 {
			t.Errorf("%s: want a fault", wrong)
		}
	}
}

func TestUnknownCommandsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"loud\n", "  indented first\n"} {
		if _, err := script.Parse(text, time.Now()); err == nil {
			t.Errorf("%q parsed", text)
		}
	}
}
