package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A copy of the files elsewhere has another path, other times and no history.
func TestAReleaseIsTheSameToTheByteWhereverItIsBuilt(t *testing.T) {
	t.Parallel()
	tool(t, "make")
	elsewhere := t.TempDir()
	files := strings.Fields(run(t, "git", "-C", root, "ls-files"))
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(elsewhere, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var sums []string
	for _, dir := range []string{root, elsewhere} {
		to := t.TempDir()
		run(t, "make", "-C", dir, "release", "version=test", "SOURCE_DATE_EPOCH=1700000000", "PLATFORMS=linux-amd64", "RELEASE="+to)
		sum, err := os.ReadFile(filepath.Join(to, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(sum))
		run(t, "sh", "-c", "cd "+to+" && sha256sum --check SHA256SUMS && tar xzf adlens-test-linux-amd64.tar.gz")
		if said := run(t, filepath.Join(to, "adlens-test-linux-amd64", "adlens"), "--version"); !strings.Contains(said, "test") {
			t.Errorf("the program says that it is %q", said)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
}
