package connector

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform/api"
	"adlens/internal/secret"
)

// wall is a store of one connection.
type wall struct {
	*memory
	stored adlens.Connection
}

func (w *wall) Connections(context.Context, string) ([]adlens.Connection, error) {
	return []adlens.Connection{w.stored}, nil
}

func (w *wall) PutConnection(_ context.Context, c adlens.Connection) error {
	w.stored = c
	return nil
}

// An operator's machine may have another key file than the servers: what it stores they cannot
// read.
func TestCredentialsThatAnotherKeySealsAreTold(t *testing.T) {
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7}}})
	defer p.Close()
	c, store := connectedTo(t, p, &noting{})
	var notices []string
	c.Notice = func(_, text string) { notices = append(notices, text) }
	connect := func() {
		t.Helper()
		if _, err := c.Connect(t.Context(), store.connection, Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken}); err != nil {
			t.Fatal(err)
		}
	}
	if connect(); len(notices) > 0 {
		t.Errorf("with its own key: %q", notices)
	}
	key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "another"))
	if err != nil {
		t.Fatal(err)
	}
	c.Key = func() (secret.Key, error) { return key, nil }
	if connect(); len(notices) != 1 || !strings.Contains(notices[0], `connection "NA" is sealed with another secret key than others that are stored`) {
		t.Errorf("with another key: %q", notices)
	}
	if connect(); len(notices) != 1 {
		t.Errorf("once it is sealed with that: %q", notices)
	}
}

// Sealed credentials open for the account, region and application alone that they were
// sealed for, and a client is kept for as long as they are the same.
func TestCredentialsAreOfTheirConnectionAlone(t *testing.T) {
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7}}})
	defer p.Close()
	c, store := connectedTo(t, p, &noting{})
	own := store.connection
	for name, change := range map[string]func(*adlens.Connection){
		"its own":             func(*adlens.Connection) {},
		"another account":     func(one *adlens.Connection) { one.Account = "two" },
		"another region":      func(one *adlens.Connection) { one.Region = "EU" },
		"another application": func(one *adlens.Connection) { one.ClientID = "other" },
	} {
		one := own
		change(&one)
		if err := c.CanOpen(one); (err == nil) != (name == "its own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	before, err := c.openClient(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.sealSecrets(&own, Secrets{"renewed", "renewed"}); err != nil {
		t.Fatal(err)
	}
	if again, err := c.openClient(store.connection); again != before || err != nil {
		t.Errorf("the client of the same credentials is another one, %v", err)
	}
	if renewed, err := c.openClient(own); renewed == before || err != nil {
		t.Errorf("the client of renewed credentials is that of the old ones, %v", err)
	}
}

func TestARefusalOfOldCredentialsSaysNothingOfNewOnes(t *testing.T) {
	before := adlens.Connection{Account: "acme", Name: "NA", ClientID: "app", Sealed: "old", Accepted: true, Profiles: []string{"1"}}
	w := &wall{newMemory("acme"), before}
	c := New(Config{Store: w, Locks: w})
	w.stored.Sealed = "new" // while the old ones were in use
	if err := c.noteAccepted(t.Context(), before, api.Unauthorized); !errors.Is(err, api.Unauthorized) {
		t.Errorf("the error is %v", err)
	}
	if w.stored.Sealed != "new" || !w.stored.Accepted {
		t.Errorf("stored is %+v, expected the new credentials, accepted", w.stored)
	}
	if taken, _, err := c.noteListed(t.Context(), before, listed("1 US A1", "2 CA A1")); err == nil || len(taken) > 0 || len(w.stored.Profiles) > 1 {
		t.Errorf("what is listed for the old ones is taken: %v, %v", taken, err)
	}
	if err := c.noteAccepted(t.Context(), w.stored, api.Unauthorized); !errors.Is(err, api.Unauthorized) || w.stored.Accepted {
		t.Errorf("the refusal of the new ones is not noted: %+v, %v", w.stored, err)
	}
	if err := c.noteAccepted(t.Context(), w.stored, nil); err != nil || !w.stored.Accepted {
		t.Errorf("that they are taken again is not noted: %+v, %v", w.stored, err)
	}
	if _, err := c.Remove(t.Context(), "acme", "NA"); err != nil || !w.stored.Removed || w.stored.Sealed != "" || w.stored.Accepted {
		t.Errorf("a removed connection keeps its credentials: %+v, %v", w.stored, err)
	}
}
