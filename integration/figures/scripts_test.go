package figures_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/house"
)

func TestScriptsGiveTheirAnswers(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			runScript(t, path)
		})
	}
}

func runScript(t *testing.T, path string) { house.RunScriptOn(t, house.Shared(t), path) }
