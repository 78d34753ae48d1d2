package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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

// Which accounts were not loaded lately is seen in one list, a canceled one included.
func TestTheListSaysHowFarAccountsAreLoaded(t *testing.T) {
	d, o := home(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"profiles.json": `[{"profileId": 101, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller", "name": "Lamps"}}]`,
		"r.report.json": `{"reportId": "r", "profileId": "101", "status": "COMPLETED", "startDate": "2026-11-01", "endDate": "2026-11-03", "generatedAt": "2026-11-04T06:00:00Z",
			"configuration": {"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "timeUnit": "DAILY", "groupBy": ["advertiser"],
			"columns": ["date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d"]}}`,
		"r.json": `[{"date": "2026-11-02", "advertisedAsin": "LAMP", "impressions": 10, "clicks": 1, "cost": 0.5, "purchases7d": 0, "sales7d": 0}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(words ...string) string {
		t.Helper()
		out, err := run(o, words...)
		if err != nil {
			t.Fatal(words, out, err)
		}
		return out
	}
	began := time.Now().Add(-time.Second)
	must("account", "add", "acme", "--name", "Acme")
	must("account", "add", "beta", "--name", "Beta")
	must("load", "--account", "acme", dir)
	must("account", "set", "acme", "--subscription", "canceled")
	var listed struct{ Data []listedJSON }
	if err := json.Unmarshal([]byte(must("account", "list", "--json")), &listed); err != nil || len(listed.Data) != 2 {
		t.Fatalf("%+v: %v", listed, err)
	}
	acme, beta := listed.Data[0], listed.Data[1]
	if acme.NewestDay == nil || *acme.NewestDay != "2026-11-03" || acme.LastLoad == nil || *acme.LastLoad < adlens.FormatTime(began) || *acme.LastLoad > adlens.FormatTime(time.Now().Add(time.Second)) {
		t.Errorf("the account that is loaded is %+v", acme)
	}
	if beta.NewestDay != nil || beta.LastLoad != nil {
		t.Errorf("the account that was never loaded is %+v", beta)
	}
	rows := regexp.MustCompile(`(?m)^acme +Acme +canceled +\S+Z  2026-11-03  ` + *acme.LastLoad + `\nbeta +Beta +active +\S+Z  -           -$`)
	if out := must("account", "list"); !rows.MatchString(out) {
		t.Errorf("listed are %s", out)
	}
	if err := d.Cluster.Home().Server.Exec(t.Context(), "RENAME TABLE commit_units TO away", nil); err != nil {
		t.Fatal(err)
	}
	if out := must("account", "list"); !strings.Contains(out, "not all newest days and last loads could be read: ") || !strings.Contains(out, "\nacme  Acme  canceled  ") {
		t.Errorf("where they cannot be read: %s", out)
	}
}
