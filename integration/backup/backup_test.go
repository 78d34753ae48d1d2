package backup_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

func TestARestoredInstallationAnswersByteForByte(t *testing.T) {
	t.Parallel()
	from := house.Seed(t)
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, from, 6)
	revoked, err := p.Key(figures.Files.ID)
	house.Need(t, err)
	revoke(t, p, figures.Files.ID)
	link := house.Feed(t, &house.House{Program: p}, figures.Files.ID, "/summary?range=all_time&format=json")
	shared := house.Share(t, &house.House{Program: p}, figures.Files.ID, "#/overview?range=all_time")
	server := house.Serve(t, p)
	house.App(t, p, figures.Files.ID, "kept")
	if r := p.Run("app", "revoke", house.App(t, p, figures.Files.ID, "ended")); r.Code != 0 {
		t.Fatalf("app revoke: %s", r)
	}
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	if _, rows := place.Backup(t); rows == 0 {
		t.Error("the first backup copied nothing")
	}
	if _, rows := place.Backup(t); rows != 0 {
		t.Errorf("the second backup copied %d rows, though nothing had changed", rows)
	}
	house.Load(t, p, figures, figures.Take(3)...)
	house.AsWriter(t, p, "INSERT INTO api_key_uses (key_id, last_used_at) SELECT feed_id, now64(3) FROM feeds")
	links := []string{"feed", "list", "--account", figures.Files.ID, "--json"}
	used := p.Run(links...).Stdout
	place.Backup(t)

	restored := place.Restore(t)
	if got := restored.Run(links...).Stdout; got != used || !strings.Contains(used, `"last_used_at":"`) {
		t.Errorf("the feeds were %s, and are %s", used, got)
	}
	other := house.Serve(t, restored)
	r := rand.New(rand.NewPCG(from, 31))
	for _, one := range []*house.Tenant{figures, lists} {
		here, there := harness.Client{Address: server.Address, Key: one.Ask.Key}, harness.Client{Address: other.Address, Key: one.Ask.Key}
		one.Ask = there
		house.SameBytes(t, here, there, house.Questions(r, one))
		house.CheckAll(t, there, one.Model)
	}
	for _, path := range []string{link, shared, shared + "/api/v1/summary"} {
		if a, b := house.Get(t, harness.Client{Address: server.Address}, path), house.Get(t, harness.Client{Address: other.Address}, path); a.Status != 200 || !bytes.Equal(a.Body, b.Body) {
			t.Errorf("a link says %s, the restored one %s", a, b)
		}
	}
	house.ProblemOf(t, house.Get(t, harness.Client{Address: other.Address, Key: revoked}, "/api/v1/summary"), 401, "invalid_key")
	apps := []string{"app", "list", "--account", figures.Files.ID, "--json"}
	if a, b := p.Run(apps...).Stdout, restored.Run(apps...).Stdout; a != b || !strings.Contains(a, `"state":"connected"`) || !strings.Contains(a, `"state":"revoked"`) {
		t.Errorf("the connections of assistants were %s, and are %s", a, b)
	}
	if a := house.Get(t, harness.Client{Address: other.Address, Key: figures.Ask.Key}, "/api/v1/account"); !strings.Contains(string(a.Body), `"connected_app":{"name":"kept",`) {
		t.Errorf("the restored account: %s", a)
	}

	// Life goes on: later reports restate, known files change nothing.
	house.Load(t, restored, figures, figures.Take(3)...)
	house.Load(t, restored, figures, figures.Files.LateRates)
	house.Load(t, restored, figures, figures.Files.NewRates)
	house.CheckAll(t, figures.Ask, figures.Model)
	// And the restored one is backed up into the same place.
	if _, rows := (house.Copied{Program: restored, Place: place.Place, More: nil}).Backup(t); rows == 0 {
		t.Error("nothing was copied after further loads")
	}
	again := place.Restore(t)
	figures.Ask.Address = house.Serve(t, again).Address
	house.CheckAll(t, figures.Ask, figures.Model)
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
	house.Need(t, json.Unmarshal([]byte(r.Stdout), &keys))
	if r := p.Run("key", "revoke", keys.Data[len(keys.Data)-1].ID); r.Code != 0 {
		t.Fatalf("key revoke: %s", r)
	}
}

func TestABackupBesideLoadsIsOfOneMoment(t *testing.T) {
	t.Parallel()
	from := house.Seed(t)
	p := house.OwnProgram(t)
	figures, _ := house.FiguresAndLists(t, p, from, 4)
	server := house.Serve(t, p)
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	before := figures.Model.Clone()
	paths := figures.Take(4)
	loaded := make(chan error, 1)
	go func() {
		for pair := range len(paths) / 2 { // a load and a commit each
			if done, err := p.LoadNow(figures.Files.ID, paths[2*pair:2*pair+2]...); err != nil || done.Code != 0 {
				loaded <- err
				return
			}
		}
		loaded <- nil
	}()
	place.Backup(t)
	house.Need(t, <-loaded)

	states := []*model.Account{before}
	for pair := range len(paths) / 2 {
		next := states[pair].Clone()
		next.Load(paths[2*pair : 2*pair+2]...)
		states = append(states, next)
	}
	figures.Ask.Address = server.Address
	s := &house.Siege{One: figures, Asks: func(*model.Account) []house.Question { return house.Everything() }}
	s.ShowsOne(t, states[len(states)-1:])
	figures.Ask.Address = house.Serve(t, place.Restore(t)).Address
	s.ShowsOne(t, states)
}

func TestARestoreFindsNothingInItsWayOrRefuses(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, house.Seed(t), 0)
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)

	// Into itself, whole and in part.
	for _, c := range [][]string{{"restore", "--from", place.Place}, {"restore", "--from", place.Place, "--account", lists.Files.ID}} {
		if r := p.Run(c...); r.Code == 0 || !strings.Contains(r.Stderr, lists.Files.ID) {
			t.Errorf("restore over an account: %s", r)
		}
	}
	// One account after the other.
	q := place.Restore(t, "--account", figures.Files.ID)
	if r := q.Run("restore", "--from", place.Place); r.Code == 0 || !strings.Contains(r.Stderr, figures.Files.ID) {
		t.Errorf("restore of everything beside an account: %s", r)
	}
	if r := q.Run("restore", "--from", place.Place, "--account", "nobody"); r.Code == 0 || !strings.Contains(r.Stderr, `"nobody"`) {
		t.Errorf("restore of an unknown account: %s", r)
	}
	if r := q.Run("restore", "--from", place.Place, "--account", lists.Files.ID); r.Code != 0 {
		t.Errorf("restore of a missing account: %s", r)
	}
	server := house.Serve(t, q)
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = server.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
}

func TestAConnectionIsRestoredWithItsKeyFileAlone(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	house.Need(t, onlyError(p.Account("acme")))
	h := &house.House{Program: p}
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	platform := house.PlatformOf(t, house.Fact("B0A", day, "1.50", "6"))
	if r := house.Connect(t, h, platform, "acme", house.CanarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)
	house.NoCanary(t, place.Place)
	key, err := os.ReadFile(filepath.Join(p.DataDir, "secret.key"))
	house.Need(t, err)

	restored := &house.House{Program: place.Restore(t)}
	if _, err := os.Stat(filepath.Join(restored.DataDir, "identity.json")); err != nil {
		t.Errorf("a store that is lost after the restore would not be missed: %v", err)
	}
	r := house.Pull(t, restored, platform, "acme", t.TempDir())
	if r.Code == 0 || !strings.Contains(r.Stderr, "secret.key") || !strings.Contains(r.Stderr, "--secret-key-file") {
		t.Errorf("pull without the key file: %s", r)
	}
	house.Need(t, os.WriteFile(filepath.Join(restored.DataDir, "secret.key"), key, 0o600))
	if r := house.Pull(t, restored, platform, "acme", t.TempDir()); r.Code != 0 {
		t.Errorf("pull with the key file: %s", r)
	}
}

func onlyError(_ string, err error) error { return err }
