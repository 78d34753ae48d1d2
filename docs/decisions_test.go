package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A decision says below its title whether it holds, and none is missing.
func TestDecisionsAreNumberedAndSayWhetherTheyHold(t *testing.T) {
	files, err := filepath.Glob("decisions/*.md")
	if err != nil || len(files) < 48 {
		t.Fatalf("%d decisions: %v", len(files), err)
	}
	status := regexp.MustCompile(`^# (\d+)\. .+\n\nStatus: (accepted|amended|superseded)\b`)
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := status.FindSubmatch(text); found == nil || string(found[1]) != fmt.Sprint(i+1) || filepath.Base(file)[:4] != fmt.Sprintf("%04d", i+1) {
			t.Errorf("decision %d is %s, and begins %.80q", i+1, file, text)
		}
	}
}
