package backup_test

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
	"adlens/integration/house"
)

// damage is a thing that happens to a place of backups.
type damage struct {
	what string
	file string // the file that must be named, by its beginning below the place
	do   func(path string) error
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
	{"a flipped bit in figures", "accounts/acme/facts-", house.Flip},
	{"a flipped bit in keys", "accounts/acme/api_keys.", house.Flip},
	{"a flipped bit in a catalogue", "accounts/acme/catalogue.", house.Flip},
	{"a flipped bit in the index", "backups/", house.Flip},
	{"half a file of figures", "accounts/acme/facts-", house.Truncate},
	{"half an index", "backups/", house.Truncate},
	{"an empty file", "accounts/acme/commit_units.", func(path string) error { return os.Truncate(path, 0) }},
	{"a missing file", "accounts/acme/day_totals-", os.Remove},
	{"a missing catalogue", "accounts/acme/catalogue.", os.Remove},
	{"another file in its place", "accounts/acme/facts-", another},
	{"a link out of the place", "accounts/acme/rates.", linkedFromOutside},
}

func TestADamagedBackupIsRefusedByName(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	house.Need(t, onlyError(p.Account("acme")))
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"701", "DE", "EUR", "seller"})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+house.DaysAgo(12)+",EUR,1.1\n"))
	if l, err := p.Load("acme", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	pair := t.TempDir()
	house.SpPair("figures", "701", house.DaysAgo(12), 3, time.Now()).Write(t, pair)
	if l, err := p.Load("acme", pair); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)
	into := house.EmptyProgram(t)
	house.Serve(t, into) // so that no restore starts an engine
	for _, d := range damages {
		broken := house.Copied{Program: p, Place: filepath.Join(t.TempDir(), "place"), More: nil}
		house.Need(t, os.CopyFS(broken.Place, os.DirFS(place.Place)))
		found, err := filepath.Glob(broken.Place + "/" + d.file + "*")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file begins with %s", d.what, d.file)
		}
		house.Need(t, d.do(found[0]))
		named, err := filepath.Rel(broken.Place, found[0])
		house.Need(t, err)
		house.MustRefuse(t, d.what, p.Run("backup", "verify", "--from", broken.Place), named)
		house.MustRefuse(t, d.what, into.Run("restore", "--from", broken.Place), named)
	}
	if r := into.Run("account", "list", "--json"); strings.Contains(r.Stdout, "acme") {
		t.Errorf("an account of a damaged backup is there: %s", r)
	}
	if r := into.Run("restore", "--from", place.Place); r.Code != 0 {
		t.Errorf("the whole backup after the damaged ones: %s", r)
	}
}

func TestABackupOfANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	p := &harness.Program{DataDir: t.TempDir()}
	var err error
	p.Bin, err = harness.Binary()
	house.Need(t, err)
	place := t.TempDir()
	index, err := json.Marshal(map[string]any{"format": 2, "what": "nobody knows yet"})
	house.Need(t, err)
	name := fmt.Sprintf("20991231T235959.000Z.%.8x.json", sha256.Sum256(index))
	house.Need(t, os.Mkdir(filepath.Join(place, "backups"), 0o700))
	house.Put(t, filepath.Join(place, "backups"), name, index)
	house.MustRefuse(t, "a newer format", p.Run("restore", "--from", place), "format 2", "formats up to 1", "use the version that wrote it")
	house.MustRefuse(t, "nothing", p.Run("restore", "--from", t.TempDir()), "no whole backup")
	house.MustRefuse(t, "a place that is not there", p.Run("restore", "--from", filepath.Join(place, "nowhere")), "nowhere")
	house.MustRefuse(t, "another scheme", p.Run("restore", "--from", "ftp://user:hidden@host/x"), "s3://bucket/prefix")
	if r := p.Run("restore", "--from", "ftp://user:hidden@host/x"); strings.Contains(r.Stderr, "hidden") {
		t.Errorf("a password is repeated: %s", r)
	}
}
