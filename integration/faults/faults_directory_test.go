package faults_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// directory is a landed data directory with one more account, which has a row in
// every table that has no generations.
type directory struct {
	landed
	*harness.Program
	flags        []string // of a server, which asks the stand-in alone
	key, revoked string   // keys of the account
	feed         string   // the path of its feed link
}

const directoryAccount = "third"

func openDirectory(t *testing.T) directory {
	t.Helper()
	l := landed{"testdata/landed/schema-17"}
	platform := house.PlatformOf(t)
	d := directory{landed: l, Program: ownProgramAt(t, l.unpack(t, "data.tar.gz")),
		flags: []string{"--platform-url", platform.URL(), "--platform-token-url", platform.TokenURL()}}
	var err error
	d.key, err = d.Account(directoryAccount)
	house.Need(t, err)
	d.revoked = d.revokedKey(t)
	made := d.Run("feed", "create", "--account", directoryAccount, "--name", "sheet", "--request", "/summary?range=all_time&format=json")
	d.feed = strings.TrimSpace(made.Stdout)
	if made.Code != 0 || !strings.HasPrefix(d.feed, "/feed/") {
		t.Fatalf("feed create: %s", made)
	}
	if r := d.Run("app", "invite", "--account", directoryAccount); r.Code != 0 {
		t.Fatalf("app invite: %s", r)
	}
	if r := house.SpeakAs(t, d.Program, platform, house.CanarySecret, house.CanaryRefresh, "connect", "--account", directoryAccount, "--region", "NA", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	return d
}

// newKey makes a key.
func (d directory) newKey(t *testing.T) (text, id string) {
	t.Helper()
	made := d.Run("key", "create", "--account", directoryAccount, "--name", "old", "--json")
	var key struct {
		Key string `json:"key"`
		ID  string `json:"key_id"`
	}
	if made.Code != 0 || json.Unmarshal([]byte(made.Stdout), &key) != nil {
		t.Fatalf("key create: %s", made)
	}
	return key.Key, key.ID
}

// revokedKey makes a key and revokes it.
func (d directory) revokedKey(t *testing.T) string {
	t.Helper()
	text, id := d.newKey(t)
	if r := d.Run("key", "revoke", id); r.Code != 0 {
		t.Fatalf("key revoke: %s", r)
	}
	return text
}

// at is the same directory elsewhere.
func (d directory) at(t *testing.T) directory {
	t.Helper()
	d.Program = house.CopyOf(t, d.Program)
	return d
}

// ask asks with every key and link that there is, and demands that each is right
// or, where refused is set, 503. It returns how many were 503. The feed link, whose
// minute has few requests, is asked where nothing else was refused.
func (d directory) ask(t *testing.T, server *harness.Server, mayRefuse bool) (refused int) {
	t.Helper()
	wants := func(what string, a harness.Answer, status int, words string) {
		switch {
		case a.Status == 503 && mayRefuse:
			refused++
		case a.Status != status || !strings.Contains(string(a.Body), words):
			t.Errorf("%s: %s, expected %d and %q", what, a, status, words)
		}
	}
	as := func(key, path string) harness.Answer {
		return house.Get(t, harness.Client{Address: server.Address, Key: key}, path)
	}
	wants("its account", as(d.key, "/api/v1/account"), 200, `"connected":true`)
	wants("its figures", as(d.key, "/api/v1/summary"), 200, "")
	wants("its revoked key", as(d.revoked, "/api/v1/account"), 401, "invalid_key")
	wants("a key that never was", as("key_live_"+strings.Repeat("A", 36), "/api/v1/account"), 401, "invalid_key")
	d.landed.ask(t, server, func(account, path, want string, a harness.Answer) { wants(account+" "+path, a, 200, want) })
	wants("liveness", as("", "/healthz"), 200, "ok")
	if refused == 0 {
		wants("its feed link", as("", d.feed), 200, "")
	}
	return refused
}

// The tables without generations lose their parts, or they are cut or changed:
// no key or account becomes unknown by it, and none that was revoked works.
func TestEveryTableOfTheDirectoryIsRightOrRefused(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	whole := openDirectory(t)
	server, err := whole.Serve(whole.flags...)
	house.Need(t, err)
	whole.ask(t, server, false)
	house.Need(t, server.Stop())
	for i, table := range []string{"accounts", "api_keys", "feeds", "apps", "connections"} {
		for j, h := range []harm{{"gone", os.RemoveAll}, {"cut", cutPart}, {"flipped", flipPart}} {
			if (i+j)%3 != 0 && house.Scaled(1) == 1 {
				continue // one harm each, unless more was requested
			}
			t.Run(table+" "+h.name, func(t *testing.T) {
				t.Parallel()
				d := whole.at(t)
				d.harmed(t, d.Program, table, h, func(server *harness.Server) (refused int) {
					if refused = d.ask(t, server, true); refused == 0 {
						t.Error("nothing was refused")
					}
					return refused
				}, d.flags...)
				if r := d.Run("doctor", "--quick"); !strings.Contains(r.Stdout, "directory") || !strings.Contains(r.Stdout, table) {
					t.Errorf("doctor does not name %s: %s", table, r)
				}
			})
		}
	}
}

// What is gone of the directory is put right in its place, and figures that are
// whole stay. A key or a connection of an assistant that was revoked since the
// backup stays revoked, one that was replaced is, and what else was changed since is named.
func TestWhatTheDirectoryLostIsRestoredInItsPlace(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	d := openDirectory(t)
	place := house.Copied{Program: d.Program, Place: t.TempDir(), More: nil}
	server, err := d.Serve(d.flags...)
	house.Need(t, err)
	ended, kept := house.App(t, d.Program, directoryAccount, "ended"), house.App(t, d.Program, directoryAccount, "kept")
	replaced, replacedID := d.newKey(t)
	place.Backup(t)
	later := d.revokedKey(t)
	if r := d.Run("app", "revoke", ended); r.Code != 0 {
		t.Fatalf("app revoke: %s", r)
	}
	d.ask(t, server, false)
	for _, change := range [][]string{
		{"key", "rotate", replacedID, "--overlap", "1s"}, {"account", "set", directoryAccount, "--subscription", "canceled"},
		{"connection", "remove", "--account", directoryAccount, "--name", "NA"},
	} {
		if r := d.Run(change...); r.Code != 0 {
			t.Fatalf("%v: %s", change, r)
		}
	}
	const ofOthers = "SELECT count() FROM commits WHERE account_id != '" + directoryAccount + "'" // which is refreshed meanwhile
	commits := house.AsWriter(t, d.Program, ofOthers)
	for _, table := range []string{"accounts", "api_keys", "feeds", "apps", "connections"} {
		harmParts(t, d.Program, table, harm{"gone", os.RemoveAll})
	}
	house.Need(t, d.KillEngine())
	house.Eventually(t, "everything is refused", func() bool { return d.ask(t, server, true) > 20 })
	// What the server read of a link before its row was lost holds for some minutes:
	// nothing was changed since, as its mark says.
	if a := house.Get(t, harness.Client{Address: server.Address}, d.feed); a.Status != 503 && (a.Status != 200 || !strings.Contains(string(a.Body), `"spend":0.00`)) {
		t.Errorf("the feed link that was lost: %s", a)
	}
	if r := d.Run("account", "add", directoryAccount, "--name", "another"); r.Code == 0 {
		t.Errorf("an account that was lost is made again: %s", r)
	}
	house.MustRefuse(t, "an empty place", d.Run("backup", "--to", filepath.Join(t.TempDir(), "backups")), directoryAccount, "accounts lost 1 of its rows")
	if taken := strings.Count(d.Run("backup", "list", "--from", place.Place).Stdout, "\n"); taken != 2 {
		t.Errorf("the list of backups has %d lines", taken)
	}
	accounts, _ := d.accounts(t)
	for _, account := range accounts {
		place.PutRight(t, account)
	}
	mended := d.Run("restore", "--from", place.Place, "--account", directoryAccount)
	for _, words := range []string{"revoked: key ", "key " + replacedID, "assistant " + ended, "as in the backup: account " + directoryAccount + ", connection NA;"} {
		if mended.Code != 0 || !strings.Contains(mended.Stderr, words) {
			t.Errorf("the restore does not say %q: %s", words, mended)
		}
	}
	if strings.Contains(mended.Stderr, "revoke again") {
		t.Errorf("a restore in its place speaks of keys that are as they were: %s", mended)
	}
	house.Eventually(t, "everything is answered again", func() bool { return d.ask(t, server, true) == 0 })
	for what, key := range map[string]string{"revoked": later, "replaced": replaced} {
		if a := house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/account"); a.Status != 401 {
			t.Errorf("the key that was %s since the backup is answered %s", what, a)
		}
	}
	listed := d.Run("app", "list", "--account", directoryAccount)
	for id, state := range map[string]string{ended: "revoked", kept: "connected"} {
		if !regexp.MustCompile(id + " .* " + state + " ").MatchString(listed.Stdout) {
			t.Errorf("the connection that was %s: %s", state, listed)
		}
	}
	if now := house.AsWriter(t, d.Program, ofOthers); now != commits {
		t.Errorf("there are %s commits, and were %s: figures that were whole were replaced", now, commits)
	}
	if r := d.Run("doctor"); r.Code != 0 {
		t.Errorf("doctor: %s", r)
	}
	house.Need(t, server.Stop())
	place.Backup(t)
}

// The counts of the day are in no answer: when they are damaged, the server starts
// and admits requests.
func TestDamagedCountsOfTheDayKeepNoServerFromStarting(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	key, err := p.Account("acme")
	house.Need(t, err)
	ask := func(afterwards func()) *harness.Server {
		server, err := p.Serve("--limit-day", "1000")
		house.Need(t, err)
		if a := house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/account"); a.Status != 200 {
			t.Errorf("the account: %s", a)
		}
		afterwards()
		house.Need(t, server.Stop())
		house.Need(t, p.StopEngine())
		return server
	}
	ask(func() { harmParts(t, p, "day_uses", harm{"flipped", flipPart}) })
	if server := ask(func() {}); !strings.Contains(server.Log(), "before the start could not be read") {
		t.Errorf("the log does not say that the counts are damaged: %s", server.Log())
	}
}
