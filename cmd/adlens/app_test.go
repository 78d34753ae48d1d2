package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/google/go-cmp/cmp"
)

// appsListed are the connections of an account as app list prints them.
func appsListed(t *testing.T, o *options) (all []appJSON) {
	t.Helper()
	out, err := run(o, "app", "list", "--account", "acme", "--json")
	var listed struct{ Data []appJSON }
	if err != nil || json.Unmarshal([]byte(out), &listed) != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return listed.Data
}

func TestAnInvitationIsPrintedListedAndWithdrawn(t *testing.T) {
	d, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(err)
	}
	out, err := run(o, "app", "invite", "--account", "acme", "--public-url", "https://Figures.Example.com:443/")
	code, explained, _ := strings.Cut(out, "\n")
	invite, ok := auth.ParseInvite(code)
	if err != nil || !ok || !strings.Contains(explained, "read account acme (Acme).\n") || !strings.Contains(explained, "\n   https://figures.example.com/mcp\n") || strings.Contains(explained, "127.0.0.1") {
		t.Fatalf("%s: %v", out, err)
	}
	app, found, err := d.Apps.AppByInvite(t.Context(), invite.Hash())
	if err != nil || !found || app.AccountID != "acme" || app.Invite.ExpiresAt.Sub(app.InvitedAt) != 10*time.Minute {
		t.Fatalf("stored is %+v: %v", app, err)
	}
	if out, err := run(o, "app", "invite", "--account", "acme"); err != nil || !strings.Contains(out, "\n   http://127.0.0.1:8080/mcp\n") {
		t.Errorf("without --public-url: %s: %v", out, err)
	}
	expires := adlens.FormatTime(app.Invite.ExpiresAt)
	want := appJSON{ID: app.ID, Account: "acme", State: "invited", InvitedAt: adlens.FormatTime(app.InvitedAt), ExpiresAt: &expires}
	if all := appsListed(t, o); len(all) != 2 || !cmp.Equal(want, all[0]) {
		t.Errorf("listed are %+v, expected %+v first", all, want)
	}
	for range 2 {
		if out, err := run(o, "app", "revoke", app.ID); err != nil || out != "app "+app.ID+" (an invitation) of account acme is revoked\n" {
			t.Errorf("%s: %v", out, err)
		}
	}
	if all := appsListed(t, o); all[0].State != "revoked" || all[0].RevokedAt == nil || all[1].State != "invited" {
		t.Errorf("listed are %+v", all)
	}
	for _, wrong := range [][]string{
		{"app", "revoke", "a_none"}, {"app", "invite", "--account", "none"}, {"app", "list", "--account", "none"},
		{"app", "invite", "--account", "acme", "--public-url", "figures.example.com"},
		{"app", "invite", "--account", "acme", "--public-url", "https://figures.example.com/mcp"},
		{"app", "invite", "--account", "acme", "--public-url", "https://figures.example.com/?x"},
		{"app", "invite", "--account", "acme", "--public-url", "http://figures.example.com"},
		{"app", "invite", "--account", "acme", "--public-url", "http://127.0.0.1:8080/mcp"},
	} {
		if out, err := run(o, wrong...); err == nil || out != "" {
			t.Errorf("%q: %s", wrong, out)
		}
	}
	if all := appsListed(t, o); len(all) != 2 {
		t.Errorf("what was refused is stored too: %+v", all)
	}
}

// What an assistant says of itself cannot change the look of the table.
func TestConnectionsAreListedInTheirStates(t *testing.T) {
	d, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	in := func(d time.Duration) auth.Secret { return auth.Secret{Hash: [32]byte{1}, ExpiresAt: now.Add(d)} }
	connected := auth.App{Name: "Claude\t\nof acme", ClientID: "https://claude.example/client", RedirectURI: "https://claude.example/back", ConnectedAt: &now, Refresh: in(time.Hour)}
	allowed := auth.App{ClientID: "c", Code: in(time.Minute)}
	ended, expired, late := connected, connected, allowed
	ended.RevokedAt, expired.Refresh, late.Code = &now, in(-time.Second), in(-time.Second)
	states := []string{"connected", "allowed", "revoked", "expired", "expired", "expired"}
	for i, app := range []auth.App{connected, allowed, ended, expired, late, {Invite: in(-time.Second)}} {
		app.ID, app.AccountID, app.InvitedAt = "a_"+string(rune('1'+i)), "acme", now.Add(time.Duration(i-10)*time.Minute)
		if err := d.Apps.PutApp(t.Context(), app); err != nil {
			t.Fatal(err)
		}
	}
	for i, line := range appsListed(t, o) {
		if line.State != states[i] {
			t.Errorf("connection %d is %s, expected %s", i, line.State, states[i])
		}
	}
	out, err := run(o, "app", "list", "--account", "acme")
	if rows := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(rows) != 7 ||
		!regexp.MustCompile(`^a_1 +Claude of acme +https://claude.example/client +https://claude.example/back +connected `).MatchString(rows[1]) {
		t.Errorf("%s: %v", out, err)
	}
}

// A connection that was ended keeps no token that could expire.
func TestAConnectionThatWasEndedExpiresNoMore(t *testing.T) {
	now := time.Now()
	a := auth.App{ID: "a_1", ConnectedAt: &now, RevokedAt: &now}
	if line := appLine(a, now); line.State != "revoked" || line.ExpiresAt != nil {
		t.Errorf("it is %s and expires at %v", line.State, *line.ExpiresAt)
	}
}
