package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"

	"adlens/internal/engine"
)

func TestTheVersionSaysWhatTheProgramWasMadeOf(t *testing.T) {
	o := &options{dataDir: t.TempDir()}
	out, err := run(o, "version", "--json")
	var got map[string]any
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got) != 5 {
		t.Fatalf("%s: %v", out, err)
	}
	for name, want := range map[string]any{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "-" + runtime.GOARCH, "engine": engine.LibraryVersion()} {
		if got[name] != want {
			t.Errorf("%s is %v, expected %v", name, got[name], want)
		}
	}
	if text, err := run(o, "version"); err != nil || !strings.HasPrefix(text, "adlens    "+version+"\n") || !strings.Contains(text, "\nengine    ClickHouse library "+engine.LibraryVersion()+"\n") {
		t.Errorf("%s: %v", text, err)
	}
	if entries, err := os.ReadDir(o.dataDir); err != nil || len(entries) > 0 {
		t.Errorf("the data directory has %v: %v", entries, err)
	}
}

func TestACommitIsThatOfTheReleaseOrOfTheBuild(t *testing.T) {
	if got := commitOf("abc"); got != "abc" {
		t.Errorf("a release of abc says %q", got)
	}
}
