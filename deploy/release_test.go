package deploy_test

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adlens/internal/engine"
)

// releaseName is the release for linux-amd64 that tests build.
const releaseName = "adlens-test-linux-amd64"

// buildRelease builds it from a checkout, compressed little: that takes most of the time.
func buildRelease(t *testing.T, checkout, to string) {
	t.Helper()
	tool(t, "make")
	run(t, "env", "ADLENS_ENGINE_LIBRARY="+library(t), "make", "-C", checkout, "PLATFORMS=linux-amd64", "release", "version=test", "commit=0123456789abcdef",
		"SOURCE_DATE_EPOCH=1700000000", "COMPRESS=gzip -n -1", "RELEASE="+to)
}

// library is the engine's.
func library(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(os.Getenv("ADLENS_ENGINE_LIBRARY"), filepath.Join(root, "node_modules/@chdb/lib-linux-x64-gnu/libchdb.so")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the engine's library is not here: %v", err)
	}
	return path
}

// released builds the release once for all tests, and returns its directory.
func released(t *testing.T) string {
	t.Helper()
	return release.get(t, func(dir string) string {
		buildRelease(t, root, dir)
		return dir
	})
}

// A copy of the files elsewhere has another path, other times and no history, and the
// secrets of a cluster that was set up there.
func TestAReleaseIsTheSameToTheByteWhereverItIsBuilt(t *testing.T) {
	t.Parallel()
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
	for _, secret := range []string{"compose/.env", "compose/secret.key", "compose/override.yaml", "kubernetes/secret.yaml"} {
		if err := os.WriteFile(filepath.Join(elsewhere, "deploy", secret), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	buildRelease(t, elsewhere, to)
	var sums [2]string
	for i, dir := range []string{released(t), to} {
		sum, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(sum)
		run(t, "sh", "-c", "cd "+dir+" && sha256sum --check SHA256SUMS")
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 2 {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
}

func TestAReleaseSaysWhatItBundles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, "tar", "xzf", filepath.Join(released(t), releaseName+".tar.gz"), "-C", dir, "--exclude=libchdb.so")
	dir = filepath.Join(dir, releaseName)
	mustLeadSomewhere(t, dir)
	said := run(t, filepath.Join(dir, "adlens"), "version", "--json")
	if !strings.Contains(said, `"version":"test","commit":"0123456789abcdef"`) {
		t.Errorf("the program says that it is %s", said)
	}
	notices := mustNameAllModules(t, dir)
	if n := strings.Count(notices, "\nClickHouse library: "); n < 500 {
		t.Errorf("there are %d notices of the engine's library", n)
	}
	parts, err := os.ReadFile(filepath.Join(dir, "adlens.cdx.json"))
	if err != nil || !strings.Contains(string(parts), "pkg:npm/%40chdb/lib-linux-x64-gnu@") || !strings.Contains(string(parts), engine.LibrarySHA256) {
		t.Errorf("the engine's library is none of the parts: %v", err)
	}
}

// mustNameAllModules holds notices and parts to what the program itself says that it was
// built from, and returns the notices.
func mustNameAllModules(t *testing.T, dir string) string {
	t.Helper()
	built, err := buildinfo.ReadFile(filepath.Join(dir, "adlens"))
	if err != nil || len(built.Deps) < 30 {
		t.Fatalf("%v: %v", built, err)
	}
	notices, err := os.ReadFile(filepath.Join(dir, "NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	var parts struct{ Components []struct{ Purl string } }
	text, err := os.ReadFile(filepath.Join(dir, "adlens.cdx.json"))
	if err != nil || json.Unmarshal(text, &parts) != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	for _, module := range built.Deps {
		if !strings.Contains(string(notices), "\n"+module.Path+" "+module.Version+": ") {
			t.Errorf("%s %s has no notice", module.Path, module.Version)
		}
		if !slices.ContainsFunc(parts.Components, func(c struct{ Purl string }) bool {
			return strings.HasPrefix(c.Purl, "pkg:golang/"+module.Path+"@"+module.Version)
		}) {
			t.Errorf("%s %s is none of the parts", module.Path, module.Version)
		}
	}
	if !strings.Contains(string(notices), "\nGo "+strings.TrimPrefix(built.GoVersion, "go")+": LICENSE") {
		t.Error("Go has no notice")
	}
	return string(notices)
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
		mustNameAllModules(t, dir)
		if _, err := os.Stat(filepath.Join(dir, "libchdb.so")); err == nil {
			t.Errorf("the release for %s has the library of another platform", platform)
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
