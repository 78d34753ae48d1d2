package integration_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/model"
)

// copied is an installation with a place for its backups.
type copied struct {
	*harness.Program
	place string
	more  []string // flags that every command with a place needs
}

// backup takes a backup, and says how many rows were new.
func (c copied) backup(t *testing.T, more ...string) (id string, rows int) {
	t.Helper()
	r := c.Run(append(append([]string{"backup", "--to", c.place, "--json"}, c.more...), more...)...)
	var said struct {
		Backup string
		Copied int `json:"copied_rows"`
	}
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
		t.Fatalf("backup: %s", r)
	}
	return said.Backup, said.Copied
}

// restore restores into a program with a data directory of its own.
func (c copied) restore(t *testing.T, more ...string) *harness.Program {
	t.Helper()
	p := emptyProgram(t)
	if r := p.Run(append([]string{"restore", "--from", c.place}, more...)...); r.Code != 0 {
		t.Fatalf("restore: %s", r)
	}
	return p
}

// figures and lists load an account of reports and one of exports and records,
// but for some reports that come later.
func figuresAndLists(t *testing.T, p *harness.Program, from uint64, later int) (figures, lists *tenant) {
	t.Helper()
	written, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 14 + later, Now: time.Now(), Days: 150})
	need(t, err)
	listed, err := extracts.WriteLists(t.TempDir(), extracts.ListOptions{Seed: from, Accounts: 1, Exports: 4, Campaigns: 60, Now: time.Now()})
	need(t, err)
	figures = &tenant{files: written[0], model: model.New()}
	lists = &tenant{files: extracts.Account{ID: listed[0].ID}, model: model.New()}
	for _, one := range []*tenant{figures, lists} {
		one.ask.Key, err = p.Account(one.files.ID)
		need(t, err)
	}
	load(t, p, figures, append(takeFiles(figures, 14), figures.files.Base)...)
	paths := append([]string{listed[0].Base}, listed[0].Records...)
	for _, export := range listed[0].Exports {
		paths = append(paths, export.Files()...)
	}
	load(t, p, lists, paths[0])
	for _, path := range listed[0].Records {
		load(t, p, lists, path)
	}
	load(t, p, lists, paths[1+len(listed[0].Records):]...)
	return figures, lists
}

func takeFiles(one *tenant, n int) []string {
	var paths []string
	for _, report := range one.files.Reports[:n] {
		paths = append(paths, report.Files()...)
	}
	one.files.Reports = one.files.Reports[n:]
	return paths
}

// questions are many of an account, and some at random.
func questions(r *rand.Rand, one *tenant) []question {
	all := append(everything(), allLists(one.model)...)
	if oldest, _ := one.model.Held(); oldest != "" {
		a := asker{r, one.model.Codes(), oldest}
		for range 30 {
			all = append(all, a.ask())
		}
	}
	return all
}

// sameBytes holds the answers of two servers side by side, their names too.
func sameBytes(t *testing.T, first, second harness.Client, all []question) {
	t.Helper()
	for _, q := range all {
		a, b := get(t, first, "/api/v1"+q.String()), get(t, second, "/api/v1"+q.String())
		if a.Status != 200 || b.Status != a.Status || !bytes.Equal(a.Body, b.Body) || a.Header.Get("ETag") != b.Header.Get("ETag") {
			t.Errorf("%s: %s %s\nthe restored one says %s %s", q, a.Header.Get("ETag"), a, b.Header.Get("ETag"), b)
		}
	}
}

func TestARestoredInstallationAnswersByteForByte(t *testing.T) {
	t.Parallel()
	from := seed(t)
	p := ownProgram(t)
	figures, lists := figuresAndLists(t, p, from, 6)
	revoked, err := p.Key(figures.files.ID)
	need(t, err)
	revoke(t, p, figures.files.ID)
	link := feed(t, &house{Program: p}, figures.files.ID, "/summary?range=all_time&format=json")
	server := serve(t, p)
	place := copied{p, t.TempDir(), nil}
	if _, rows := place.backup(t); rows == 0 {
		t.Error("the first backup copied nothing")
	}
	if _, rows := place.backup(t); rows != 0 {
		t.Errorf("the second backup copied %d rows, though nothing had changed", rows)
	}
	load(t, p, figures, takeFiles(figures, 3)...)
	place.backup(t)

	restored := place.restore(t)
	other := serve(t, restored)
	r := rand.New(rand.NewPCG(from, 31))
	for _, one := range []*tenant{figures, lists} {
		here, there := harness.Client{Address: server.Address, Key: one.ask.Key}, harness.Client{Address: other.Address, Key: one.ask.Key}
		one.ask = there
		sameBytes(t, here, there, questions(r, one))
		checkAll(t, there, one.model)
	}
	if a, b := get(t, harness.Client{Address: server.Address}, link), get(t, harness.Client{Address: other.Address}, link); a.Status != 200 || !bytes.Equal(a.Body, b.Body) {
		t.Errorf("a feed says %s, the restored one %s", a, b)
	}
	problemOf(t, get(t, harness.Client{Address: other.Address, Key: revoked}, "/api/v1/summary"), 401, "invalid_key")

	// Life goes on: later reports restate, known files change nothing.
	load(t, restored, figures, takeFiles(figures, 3)...)
	load(t, restored, figures, figures.files.LateRates)
	load(t, restored, figures, figures.files.NewRates)
	checkAll(t, figures.ask, figures.model)
	// And the restored one is backed up into the same place.
	if _, rows := (copied{restored, place.place, nil}).backup(t); rows == 0 {
		t.Error("nothing was copied after further loads")
	}
	again := place.restore(t)
	figures.ask.Address = serve(t, again).Address
	checkAll(t, figures.ask, figures.model)
}

// revoke revokes the newest key of an account.
func revoke(t *testing.T, p *harness.Program, account string) {
	t.Helper()
	var keys struct {
		Data []struct {
			ID string `json:"key_id"`
		}
	}
	r := p.Run("key", "list", "--account", account, "--json")
	need(t, json.Unmarshal([]byte(r.Stdout), &keys))
	if r := p.Run("key", "revoke", keys.Data[len(keys.Data)-1].ID); r.Code != 0 {
		t.Fatalf("key revoke: %s", r)
	}
}

func TestABackupBesideLoadsIsOfOneMoment(t *testing.T) {
	t.Parallel()
	from := seed(t)
	p := ownProgram(t)
	figures, _ := figuresAndLists(t, p, from, 4)
	server := serve(t, p)
	place := copied{p, t.TempDir(), nil}
	before := figures.model.Clone()
	paths := takeFiles(figures, 4)
	loaded := make(chan error, 1)
	go func() {
		for pair := range len(paths) / 2 { // a load and a commit each
			if done, err := p.LoadNow(figures.files.ID, paths[2*pair:2*pair+2]...); err != nil || done.Code != 0 {
				loaded <- err
				return
			}
		}
		loaded <- nil
	}()
	place.backup(t)
	need(t, <-loaded)

	states := []*model.Account{before}
	for pair := range len(paths) / 2 {
		next := states[pair].Clone()
		next.Load(paths[2*pair : 2*pair+2]...)
		states = append(states, next)
	}
	figures.ask.Address = server.Address
	s := &siege{one: figures, asks: func(*model.Account) []question { return everything() }}
	s.showsOne(t, states[len(states)-1:])
	figures.ask.Address = serve(t, place.restore(t)).Address
	s.showsOne(t, states)
}

func TestARestoreFindsNothingInItsWayOrRefuses(t *testing.T) {
	t.Parallel()
	p := ownProgram(t)
	figures, lists := figuresAndLists(t, p, seed(t), 0)
	place := copied{p, t.TempDir(), nil}
	place.backup(t)

	// Into itself, whole and in part.
	for _, c := range [][]string{{"restore", "--from", place.place}, {"restore", "--from", place.place, "--account", lists.files.ID}} {
		if r := p.Run(c...); r.Code == 0 || !strings.Contains(r.Stderr, lists.files.ID) {
			t.Errorf("restore over an account: %s", r)
		}
	}
	// One account after the other.
	q := place.restore(t, "--account", figures.files.ID)
	if r := q.Run("restore", "--from", place.place); r.Code == 0 || !strings.Contains(r.Stderr, figures.files.ID) {
		t.Errorf("restore of everything beside an account: %s", r)
	}
	if r := q.Run("restore", "--from", place.place, "--account", "nobody"); r.Code == 0 || !strings.Contains(r.Stderr, `"nobody"`) {
		t.Errorf("restore of an unknown account: %s", r)
	}
	if r := q.Run("restore", "--from", place.place, "--account", lists.files.ID); r.Code != 0 {
		t.Errorf("restore of a missing account: %s", r)
	}
	server := serve(t, q)
	for _, one := range []*tenant{figures, lists} {
		one.ask.Address = server.Address
		checkAll(t, one.ask, one.model)
	}
}

func TestAConnectionIsRestoredWithItsKeyFileAlone(t *testing.T) {
	t.Parallel()
	p := ownProgram(t)
	need(t, onlyError(p.Account("acme")))
	h := &house{Program: p}
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	platform := platformOf(t, fact("B0A", day, "1.50", "6"))
	if r := connect(t, h, platform, "acme", canarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	place := copied{p, t.TempDir(), nil}
	place.backup(t)
	noCanary(t, place.place)
	key, err := os.ReadFile(filepath.Join(p.DataDir, "secret.key"))
	need(t, err)

	restored := &house{Program: place.restore(t)}
	r := pull(t, restored, platform, "acme", t.TempDir())
	if r.Code == 0 || !strings.Contains(r.Stderr, "secret.key") || !strings.Contains(r.Stderr, "--secret-key-file") {
		t.Errorf("pull without the key file: %s", r)
	}
	need(t, os.WriteFile(filepath.Join(restored.DataDir, "secret.key"), key, 0o600))
	if r := pull(t, restored, platform, "acme", t.TempDir()); r.Code != 0 {
		t.Errorf("pull with the key file: %s", r)
	}
}

func onlyError(_ string, err error) error { return err }
