package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/backup"
)

// writes has what is written.
type writes chan string

func (w writes) Write(text []byte) (int, error) {
	w <- string(text)
	return len(text), nil
}

// A person who works on many accounts sees which one a command was about.
func TestWhatACommandDidNamesTheAccount(t *testing.T) {
	d, o := home(t)
	key := rotatable(t, d, o)
	rates := filepath.Join(t.TempDir(), "rates.csv")
	if err := os.WriteFile(rates, []byte("date,currency,usd\n2026-01-02,EUR,1.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(want string, words ...string) (out string) {
		t.Helper()
		out, err := run(o, words...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: want %q in %q, %v", words, want, out, err)
		}
		return out
	}
	inJSON := func(id string, words ...string) string {
		t.Helper()
		out, line := says(`"account_id":"acme"`, append(words, "--json")...), map[string]any{}
		_, text, _ := strings.Cut(out, "{") // standard error comes first
		if err := json.Unmarshal([]byte("{"+text), &line); err != nil || id != "" && line[id] == nil {
			t.Fatalf("%q: %v: %s", words, err, out)
		}
		text, _ = line[id].(string)
		return text
	}
	inJSON("key_id", "key", "create", "--account", "acme", "--name", "another")
	says("key "+key.ID+" (sheet) of account acme is revoked; its successor is k_", "key", "rotate", key.ID, "--overlap", "0")
	says("key "+key.ID+" (sheet) of account acme is revoked\n", "key", "revoke", key.ID)
	inJSON("key_id", "key", "revoke", key.ID)
	feed := inJSON("feed_id", "feed", "create", "--account", "acme", "--name", "sheet", "--request", "/rules")
	says(feed+" (sheet) of account acme is revoked\n", "feed", "revoke", feed)
	app := inJSON("app_id", "app", "invite", "--account", "acme")
	says(app+" (an invitation) of account acme is revoked\n", "app", "revoke", app)
	says("1 rows read for account acme\n", "load", "--account", "acme", rates)
	inJSON("", "load", "--account", "acme", rates)
}

// A restore of all accounts that did not end goes on only where there is no account. It
// keeps no other from being added once there is one, of which it left nothing.
func TestARestoreThatCannotGoOnKeepsNoAccountAway(t *testing.T) {
	d, o := home(t)
	_, err := d.Sink.Began(t.Context(), "") // makes its table
	if err := errors.Join(err, d.Sink.Begin(t.Context(), "", "20261126")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("before any account is there: %q: %v", out, err)
	}
	if err := d.Accounts.PutAccount(t.Context(), adlens.Account{ID: "restored", Name: "x", Subscription: adlens.Subscriptions[0]}); err != nil {
		t.Fatal(err)
	}
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Errorf("once one is there: %q: %v", out, err)
	}
}

// An account that is added while a backup is restored would be the restored one, under
// another name, or would keep it from being shown.
func TestAnAccountIsAddedBeforeOrAfterARestore(t *testing.T) {
	d, o := home(t)
	release, err := d.locker.Lock(t.Context(), backup.LockName, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Sink.Began(t.Context(), "acme") // makes its table
	if err := errors.Join(err, d.Sink.Begin(t.Context(), "acme", "20261126")); err != nil {
		t.Fatal(err)
	}
	waits, ended := make(writes, 1), make(chan error, 1)
	go func() {
		_, _, err := d.addAccount(t.Context(), adlens.Account{ID: "acme"}, false, waits)
		ended <- err
	}()
	if said := <-waits; !strings.HasPrefix(said, "waiting for a restore: process ") {
		t.Errorf("beside a restore it says %q", said)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "a restore of the backup 20261126 did not end") {
		t.Errorf("after a restore that did not end: %v", err)
	}
	if out, err := run(o, "account", "add", "other", "--name", "Other"); err != nil {
		t.Errorf("an account of which no restore began: %q: %v", out, err)
	}
	if err := d.Sink.Done(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Errorf("after a restore that ended: %q: %v", out, err)
	}
}

func TestANameOfAnAccountIsOneCellOfTheList(t *testing.T) {
	_, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme\nother  Other Ltd\tactive"); err != nil {
		t.Fatal(err)
	}
	out, err := run(o, "account", "list")
	if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "acme  Acme other Other Ltd active  active  ") {
		t.Errorf("%q: %v", out, err)
	}
	if out, err := run(o, "account", "list", "--json"); err != nil || !strings.Contains(out, `"name":"Acme\nother  Other Ltd\tactive"`) {
		t.Errorf("%q: %v", out, err)
	}
}
