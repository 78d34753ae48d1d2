package clickhouse

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/google/go-cmp/cmp"
)

// appNamed is a connection of an assistant whose tokens are valid for years, all of
// whose texts need care.
func appNamed(t *testing.T, what any) auth.App {
	name := fmt.Sprint(t.Name(), " ", what)
	secret := func(of string, expires int) auth.Secret {
		return auth.Secret{Hash: sha256.Sum256([]byte(name + of)), ExpiresAt: time.Date(2090, 11, 1, expires, 0, 0, 5e6, time.UTC)}
	}
	connected := time.Date(2026, 11, 1, 12, 30, 0, 7e6, time.UTC)
	return auth.App{
		ID: "a_" + name, AccountID: t.Name(), InvitedAt: time.Date(2026, 11, 1, 12, 0, 0, 5e6, time.UTC), Invite: secret("invite", 0),
		Family: secret("family", 0).Hash, Name: "It's \\ \"Claude\"\n\t\x00\u202e, {x:String}", ClientID: "https://client.example/'", RedirectURI: "http://127.0.0.1/\\n",
		Resource: "https://figures.example.com/mcp", Challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", Code: secret("code", 1),
		ConnectedAt: &connected, Refresh: secret("refresh", 2), Access: []auth.Secret{secret("access 1", 3), secret("access 2", 4)},
	}
}

// Each state of a connection is read as it was put, and found by its secrets.
func TestAConnectionOfAnAssistantIsReadAsItWasPut(t *testing.T) {
	d := openShared(t)
	connected := appNamed(t, 1)
	invited := auth.App{ID: connected.ID, AccountID: connected.AccountID, InvitedAt: connected.InvitedAt, Invite: connected.Invite}
	consented := connected
	consented.ConnectedAt, consented.Refresh, consented.Access = nil, auth.Secret{}, nil
	used := time.Date(2026, 11, 2, 0, 0, 0, 9e6, time.UTC)
	finished := connected
	finished.LastUsedAt, finished.RevokedAt = &used, &used
	other := appNamed(t, 2)
	other.InvitedAt = other.InvitedAt.Add(time.Second)
	if err := d.Apps.PutApp(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for _, want := range []auth.App{invited, consented, connected, finished} {
		if err := d.Apps.PutApp(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if want.LastUsedAt != nil {
			if err := d.Keys.PutKeyUses(t.Context(), map[string]time.Time{want.ID: used}); err != nil {
				t.Fatal(err)
			}
		}
		finds := map[string]func() (auth.App, bool, error){
			"its id":     func() (auth.App, bool, error) { return d.Apps.AppByID(t.Context(), want.ID) },
			"its invite": func() (auth.App, bool, error) { return d.Apps.AppByInvite(t.Context(), connected.Invite.Hash) },
			"its family": func() (auth.App, bool, error) { return d.Apps.AppByFamily(t.Context(), connected.Family) },
			"its account": func() (auth.App, bool, error) {
				all, err := d.Apps.Apps(t.Context(), t.Name())
				return all[0], len(all) == 2, err
			},
		}
		if want.Family == ([32]byte{}) {
			delete(finds, "its family")
		}
		for by, find := range finds {
			got, found, err := find()
			if err != nil || !found {
				t.Fatalf("by %s: %t, %v", by, found, err)
			}
			want := want
			if by == "its invite" || by == "its family" { // what is looked up by a secret hangs on no last use
				want.LastUsedAt = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("by %s (-want +got):\n%s", by, diff)
			}
		}
	}
	if _, found, err := d.Apps.AppByFamily(t.Context(), [32]byte{}); found || err != nil {
		t.Errorf("a connection without a family is found: %v", err)
	}
}

// Access tokens are keys as far as a request goes; one that was replaced is none.
func TestAnAccessTokenAuthenticatesAsAKey(t *testing.T) {
	d := openShared(t)
	now := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	replaced, held, expired := auth.NewKey(), auth.NewKey(), auth.NewKey()
	app := appNamed(t, 1)
	valid := auth.Secret{Hash: held.Hash(), ExpiresAt: now.Add(time.Hour)}
	app.Access = []auth.Secret{{Hash: replaced.Hash(), ExpiresAt: now.Add(time.Hour)}}
	if err := d.Apps.PutApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	app.Access = []auth.Secret{{Hash: expired.Hash(), ExpiresAt: now}, valid}
	if err := d.Apps.PutApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	authenticator := auth.NewAuthenticator(d.Apps)
	ask := func(key auth.Key, at time.Time) (auth.Record, error) {
		return authenticator.Authenticate(t.Context(), []string{"Bearer " + key.Reveal()}, false, at)
	}
	got, err := ask(held, now)
	if err != nil {
		t.Fatal(err)
	}
	want := auth.Record{ID: app.ID, AccountID: t.Name(), Name: app.Name, Hash: held.Hash(), Scopes: []string{auth.ScopeRead}, CreatedAt: *app.ConnectedAt, ExpiresAt: &valid.ExpiresAt, Request: app.Resource}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, key := range map[string]auth.Key{"replaced": replaced, "expired": expired, "unknown": auth.NewKey()} {
		if _, err := ask(key, now); !errors.Is(err, auth.ErrInvalidKey) {
			t.Errorf("a token that is %s: %v", name, err)
		}
	}
	if _, err := ask(held, now.Add(time.Hour)); !errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("the token an hour later: %v", err)
	}
	app.RevokedAt = &now
	if err := d.Apps.PutApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(held, now.Add(2*time.Second)); !errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("two seconds after the revocation: %v", err)
	}
}

// Where the last change of a connection is lost, a token that it had may be one
// that is not found: it is refused for now, not for good.
func TestATokenIsUnknownOnlyWhereNoConnectionWasLost(t *testing.T) {
	d := openShared(t)
	app := appNamed(t, 1)
	if err := d.Apps.PutApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	unknown := sha256.Sum256([]byte(t.Name()))
	finds := map[string]func() (bool, error){
		"a token":  func() (bool, error) { _, found, err := d.Apps.KeyByHash(t.Context(), unknown); return found, err },
		"a family": func() (bool, error) { _, found, err := d.Apps.AppByFamily(t.Context(), unknown); return found, err },
		"a code":   func() (bool, error) { _, found, err := d.Apps.AppByInvite(t.Context(), unknown); return found, err },
	}
	for what, find := range finds {
		if found, err := find(); found || err != nil {
			t.Errorf("%s before: %t, %v", what, found, err)
		}
	}
	lose(t, d.Database, "apps", "account_id = {account:String}")
	defer func() { // for the other tests
		lose(t, d.Database, "directory_seals", "account_id = {account:String}")
		d.Inspector.Calmer()()
	}()
	for what, find := range finds {
		if found, err := find(); found || adlens.KindOf(err) != adlens.Damaged {
			t.Errorf("%s of which the connection may be lost: %t, %v", what, found, err)
		}
	}
}
