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

// newShop is a program with the account acme, and a folder of its profile and rates.
func newShop(t *testing.T) (p *harness.Program, dir string) {
	t.Helper()
	p, dir = house.OwnProgram(t), t.TempDir()
	house.Need(t, onlyError(p.Account("acme")))
	house.ProfilesFile(t, dir, [4]string{"701", "DE", "EUR", "seller"})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+house.DaysAgo(12)+",EUR,1.1\n"))
	return p, dir
}

func TestADamagedBackupIsRefusedByName(t *testing.T) {
	t.Parallel()
	p, dir := newShop(t)
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
	// What the restores have left is of no account that is added now.
	for _, c := range [][]string{{"account", "add", "acme", "--name", "Acme"}, {"account", "add", "other", "--name", "Other"}, {"demo", "--listen", "127.0.0.1:0"}, {"load", "--account", "acme", pair}} {
		house.MustRefuse(t, strings.Join(c, " "), into.Run(c...), "did not end", "run the same adlens restore again")
	}
	if r := into.Run("doctor", "--quick"); r.Code == 0 || !strings.Contains(r.Stdout, "did not end") {
		t.Errorf("the doctor of what the restores have left: %s", r)
	}
	if log := house.Serve(t, into).Log(); !strings.Contains(log, "did not end") {
		t.Errorf("a server that starts on what the restores have left: %s", log)
	}
	if r := into.Run("restore", "--from", place.Place); r.Code != 0 {
		t.Errorf("the whole backup after the damaged ones: %s", r)
	}
	if r := into.Run("load", "--account", "acme", pair); r.Code != 0 || !strings.Contains(r.Stdout, "1 unchanged") {
		t.Errorf("a load after the restore: %s", r)
	}
	if r := into.Run("account", "add", "other", "--name", "Other"); r.Code != 0 {
		t.Errorf("an account after the restore: %s", r)
	}
}

// Versions that let an account be added after an interrupted restore left accounts with
// notes of loaded reports and without a commit. A backup without its live units restores
// to one.
func TestAnAccountWithNotesOfLoadedReportsAloneIsFoundAndNotLoaded(t *testing.T) {
	t.Parallel()
	p, pair := newShop(t)
	house.SpPair("figures", "701", house.DaysAgo(12), 3, time.Now()).Write(t, pair)
	if l, err := p.Load("acme", pair); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)
	dropUnits(t, place.Place)

	left := place.Restore(t)
	r := left.Run("load", "--account", "acme", pair)
	house.MustRefuse(t, "a load", r, "noted as loaded", "into a new data directory")
	if strings.Contains(r.Stdout, "1 unchanged") {
		t.Errorf("a report that nothing answers is called loaded: %s", r)
	}
	if r := left.Run("doctor", "--quick"); r.Code != 1 || !strings.Contains(r.Stdout, "1 report noted as loaded") {
		t.Errorf("doctor: %s", r)
	}
}

// dropUnits takes the live units out of the only backup of a place.
func dropUnits(t *testing.T, place string) {
	t.Helper()
	read := func(pattern string) (path string, said map[string]any) {
		found, err := filepath.Glob(filepath.Join(place, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v: %v", pattern, found, err)
		}
		raw, err := os.ReadFile(found[0])
		house.Need(t, err)
		house.Need(t, json.Unmarshal(raw, &said))
		return found[0], said
	}
	keep := func(said map[string]any, name string) (kept, sum string) {
		raw, err := json.Marshal(said)
		house.Need(t, err)
		sum = fmt.Sprintf("%x", sha256.Sum256(raw))
		kept = strings.Replace(name, "SUM", sum[:16], 1)
		house.Put(t, filepath.Join(place, filepath.Dir(kept)), filepath.Base(kept), raw)
		return kept, sum
	}
	was, catalogue := read("accounts/acme/catalogue.*")
	var files []any
	rows, stored := 0.0, 0.0
	for _, f := range catalogue["files"].([]any) {
		if f := f.(map[string]any); f["table"] != "commit_units" {
			files, rows, stored = append(files, f), rows+f["rows"].(float64), stored+f["stored_bytes"].(float64)
		}
	}
	catalogue["files"] = files
	house.Need(t, os.Remove(was))
	kept, sum := keep(catalogue, "accounts/acme/catalogue.SUM.json")
	was, index := read("backups/*.json")
	entry := index["accounts"].([]any)[0].(map[string]any)
	entry["catalogue"], entry["sha256"], entry["files"], entry["rows"], entry["stored_bytes"] = kept, sum, len(files), rows, stored
	house.Need(t, os.Remove(was))
	at, _, _ := strings.Cut(filepath.Base(was), "Z.")
	keep(index, "backups/"+at+"Z.SUM.json")
}

func TestABackupOfANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	p := &harness.Program{DataDir: t.TempDir()}
	var err error
	p.Bin, err = harness.Binary()
	house.Need(t, err)
	place := t.TempDir()
	index, err := json.Marshal(map[string]any{"format": 3, "what": "not known yet"})
	house.Need(t, err)
	name := fmt.Sprintf("20991231T235959.000Z.%.8x.json", sha256.Sum256(index))
	house.Need(t, os.Mkdir(filepath.Join(place, "backups"), 0o700))
	house.Put(t, filepath.Join(place, "backups"), name, index)
	house.MustRefuse(t, "a newer format", p.Run("restore", "--from", place), "format 3", "formats up to 2", "use the version that wrote it")
	house.MustRefuse(t, "nothing", p.Run("restore", "--from", t.TempDir()), "no whole backup")
	house.MustRefuse(t, "a place that is not there", p.Run("restore", "--from", filepath.Join(place, "nowhere")), "nowhere")
	house.MustRefuse(t, "another scheme", p.Run("restore", "--from", "ftp://user:hidden@host/x"), "s3://bucket/prefix")
	if r := p.Run("restore", "--from", "ftp://user:hidden@host/x"); strings.Contains(r.Stderr, "hidden") {
		t.Errorf("a password is repeated: %s", r)
	}
}
