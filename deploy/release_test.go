package deploy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	archive := "adlens-test-linux-amd64"
	var sums []string
	for _, dir := range []string{root, elsewhere} {
		to := t.TempDir()
		run(t, "make", "-C", dir, "PLATFORMS=linux-amd64", "release", "version=test", "SOURCE_DATE_EPOCH=1700000000", "RELEASE="+to)
		sum, err := os.ReadFile(filepath.Join(to, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(sum))
		run(t, "sh", "-c", "cd "+to+" && sha256sum --check SHA256SUMS && tar xzf "+archive+".tar.gz")
		mustLeadSomewhere(t, filepath.Join(to, archive))
		if said := run(t, filepath.Join(to, archive, "adlens"), "--version"); !strings.Contains(said, "test") {
			t.Errorf("the program says that it is %q", said)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
}

// The programs for other platforms are built but not run here, so they are not
// optimized, which would take most of the time.
func TestAReleaseIsBuiltForEveryPlatformThatItNames(t *testing.T) {
	t.Parallel()
	tool(t, "make")
	platforms := strings.Fields(run(t, "make", "-C", root, "--silent", "--no-print-directory", "--eval=platforms: ; @echo $(PLATFORMS)", "platforms"))
	others := slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return p == "linux-amd64" })
	if len(others) != len(platforms)-1 || len(others) < 2 {
		t.Fatalf("a release is for %q", platforms)
	}
	to := t.TempDir()
	run(t, "env", "GOFLAGS='-gcflags=all=-N -l'", "make", "-C", root, "PLATFORMS="+strings.Join(others, " "), "release", "version=test", "RELEASE="+to)
	for _, platform := range others {
		system, processor, _ := strings.Cut(platform, "-")
		dir := filepath.Join(to, "adlens-test-"+platform)
		run(t, "tar", "xzf", dir+".tar.gz", "-C", to)
		built := run(t, "go", "version", "-m", filepath.Join(dir, "adlens"))
		if !strings.Contains(built, "GOOS="+system+"\n") || !strings.Contains(built, "GOARCH="+processor+"\n") {
			t.Errorf("the program for %s is %s", platform, built)
		}
	}
}

// Links of a document to another file.
var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

// mustLeadSomewhere holds the documents of an archive to what is in it.
func mustLeadSomewhere(t *testing.T, dir string) {
	t.Helper()
	links := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), found[1])); err != nil {
				t.Errorf("%s leads nowhere: %v", filepath.Base(path), err)
			}
		}
		return err
	})
	if err != nil || links < 30 {
		t.Errorf("%d links: %v", links, err)
	}
}
