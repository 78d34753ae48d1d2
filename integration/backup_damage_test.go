package integration_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// damage is a thing that happens to a place of backups.
type damage struct {
	what string
	file string // the file that must be named, by its beginning below the place
	do   func(path string) error
}

func flip(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw[len(raw)/2] ^= 0x10
	return os.WriteFile(path, raw, 0o600)
}

func truncate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

// another puts a file of other rows in the place of a file.
func another(path string) error {
	others, err := filepath.Glob(filepath.Join(filepath.Dir(path), "accounts.*"))
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(others[0])
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// linkedFromOutside makes a file a link to the same bytes outside the place.
func linkedFromOutside(path string) error {
	target := filepath.Join(filepath.Dir(path), "..", "..", "..", "outside")
	if err := os.Rename(path, target); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

var damages = []damage{
	{"a flipped bit in figures", "accounts/acme/facts-", flip},
	{"a flipped bit in keys", "accounts/acme/api_keys.", flip},
	{"a flipped bit in a catalogue", "accounts/acme/catalogue.", flip},
	{"a flipped bit in the index", "backups/", flip},
	{"half a file of figures", "accounts/acme/facts-", truncate},
	{"half an index", "backups/", truncate},
	{"an empty file", "accounts/acme/commit_units.", func(path string) error { return os.Truncate(path, 0) }},
	{"a missing file", "accounts/acme/day_totals-", os.Remove},
	{"a missing catalogue", "accounts/acme/catalogue.", os.Remove},
	{"another file in its place", "accounts/acme/facts-", another},
	{"a link out of the place", "accounts/acme/rates.", linkedFromOutside},
}

func TestADamagedBackupIsRefusedByName(t *testing.T) {
	t.Parallel()
	p := ownProgram(t)
	need(t, onlyError(p.Account("acme")))
	dir := t.TempDir()
	profilesFile(t, dir, [4]string{"701", "DE", "EUR", "seller"})
	put(t, dir, "rates.csv", []byte("date,currency,usd\n"+daysAgo(12)+",EUR,1.1\n"))
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	pair := t.TempDir()
	spPair("figures", "701", daysAgo(12), 3, time.Now()).write(t, pair)
	if l, err := p.Load("acme", pair); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	place := copied{p, t.TempDir(), nil}
	place.backup(t)
	into := emptyProgram(t)
	serve(t, into) // so that no restore starts an engine
	for _, d := range damages {
		broken := copied{p, filepath.Join(t.TempDir(), "place"), nil}
		need(t, os.CopyFS(broken.place, os.DirFS(place.place)))
		found, err := filepath.Glob(broken.place + "/" + d.file + "*")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file begins with %s", d.what, d.file)
		}
		need(t, d.do(found[0]))
		named, err := filepath.Rel(broken.place, found[0])
		need(t, err)
		mustRefuse(t, d.what, p.Run("backup", "verify", "--from", broken.place), named)
		mustRefuse(t, d.what, into.Run("restore", "--from", broken.place), named)
	}
	if r := into.Run("account", "list", "--json"); strings.Contains(r.Stdout, "acme") {
		t.Errorf("an account of a damaged backup is there: %s", r)
	}
	if r := into.Run("restore", "--from", place.place); r.Code != 0 {
		t.Errorf("the whole backup after the damaged ones: %s", r)
	}
}

func mustRefuse(t *testing.T, what string, r harness.Result, names ...string) {
	t.Helper()
	for _, name := range names {
		if r.Code != 1 || !strings.Contains(r.Stderr, name) {
			t.Errorf("%s: want exit code 1 and %s named, got %s", what, name, r)
		}
	}
}

func TestABackupOfANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	p := &harness.Program{DataDir: t.TempDir()}
	var err error
	p.Bin, err = harness.Binary()
	need(t, err)
	place := t.TempDir()
	index, err := json.Marshal(map[string]any{"format": 2, "what": "nobody knows yet"})
	need(t, err)
	name := fmt.Sprintf("20991231T235959.000Z.%.8x.json", sha256.Sum256(index))
	need(t, os.Mkdir(filepath.Join(place, "backups"), 0o700))
	put(t, filepath.Join(place, "backups"), name, index)
	mustRefuse(t, "a newer format", p.Run("restore", "--from", place), "format 2", "formats up to 1", "use the version that wrote it")
	mustRefuse(t, "nothing", p.Run("restore", "--from", t.TempDir()), "no whole backup")
	mustRefuse(t, "a place that is not there", p.Run("restore", "--from", filepath.Join(place, "nowhere")), "nowhere")
	mustRefuse(t, "another scheme", p.Run("restore", "--from", "ftp://user:hidden@host/x"), "s3://bucket/prefix")
	if r := p.Run("restore", "--from", "ftp://user:hidden@host/x"); strings.Contains(r.Stderr, "hidden") {
		t.Errorf("a password is repeated: %s", r)
	}
}
