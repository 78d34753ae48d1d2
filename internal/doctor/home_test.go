package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What others can read is found, the token of a running server too.
func TestPrivateFilesThatOthersCanReadAreFound(t *testing.T) {
	for _, name := range []string{"secret.key", "serve.json"} {
		e, c := &examination{Installation: Installation{DataDir: t.TempDir()}}, &checkup{}
		path := filepath.Join(e.DataDir, name)
		for _, mode := range []os.FileMode{0o600, 0o644} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := e.fileModes(c); err != nil {
				t.Fatal(err)
			}
			if found := len(c.findings) > 0; found != (mode != 0o600) {
				t.Errorf("%s of mode %04o: %v", name, mode, c.findings)
			}
		}
	}
}

// A release has no Makefile.
func TestTheAdviceAboutTheLibraryIsOfUseInARelease(t *testing.T) {
	t.Setenv("ADLENS_ENGINE_LIBRARY", filepath.Join(t.TempDir(), "none.so"))
	e, c := &examination{}, &checkup{}
	if _, err := e.checkLibrary(c); err != nil || len(c.findings) != 1 {
		t.Fatalf("%v %v", c.findings, err)
	}
	if advice := *c.findings[0].Advice; !strings.Contains(advice, "from its archive again") {
		t.Errorf("it advises: %s", advice)
	}
}
