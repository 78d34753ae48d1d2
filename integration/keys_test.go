package integration_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

func TestWrongKeysGetOneAnswer(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	// A key of another data directory is well-formed and yet unknown.
	stranger, err := ownProgram(t).Account("stranger")
	need(t, err)
	good := one.ask.Key
	last := "a"
	if strings.HasSuffix(good, "a") {
		last = "b"
	}
	var first string
	for _, c := range []struct {
		name    string
		headers []string
	}{
		{"bad checksum", []string{"Authorization", "Bearer " + good[:len(good)-1] + last}},
		{"unknown", []string{"Authorization", "Bearer " + stranger}},
		{"malformed", []string{"Authorization", "Bearer key_live_"}},
		{"another prefix", []string{"Authorization", "Bearer key_test_" + strings.TrimPrefix(good, "key_live_")}},
		{"upper case", []string{"Authorization", "Bearer " + strings.ToUpper(good)}},
		{"something behind", []string{"Authorization", "Bearer " + good + " x"}},
		{"ten thousand letters", []string{"Authorization", "Bearer key_live_" + strings.Repeat("a", 10_000)}},
		{"two headers", []string{"Authorization", "Bearer " + good, "Authorization", "Bearer " + good}},
	} {
		a := get(t, harness.Client{Address: h.server.Address}, "/api/v1/summary", c.headers...)
		p := problemOf(t, a, 401, "invalid_key")
		checkChallenge(t, c.name, a)
		said := p.Type + p.Title + p.Detail
		if first == "" {
			first = said
		}
		if said != first {
			t.Errorf("%s: want the answer of all wrong keys, got %s", c.name, a.Body)
		}
		if strings.Contains(string(a.Body), good) {
			t.Errorf("%s: the answer repeats the key", c.name)
		}
	}
}

func checkChallenge(t *testing.T, what string, a harness.Answer) {
	t.Helper()
	if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("%s: WWW-Authenticate %q", what, a.Header.Get("WWW-Authenticate"))
	}
}

func TestAMissingKeyIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	nobody := harness.Client{Address: h.server.Address}
	a := get(t, nobody, "/api/v1/summary?range=never")
	problemOf(t, a, 401, "missing_key")
	checkChallenge(t, "none", a)
	for _, header := range []string{"Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "key_live_abc"} {
		a := get(t, nobody, "/api/v1/summary", "Authorization", header)
		checkChallenge(t, header, a)
		// The contract does not say which of the two a wrong scheme is.
		if !strings.Contains(string(a.Body), `"missing_key"`) {
			problemOf(t, a, 401, "invalid_key")
		} else {
			problemOf(t, a, 401, "missing_key")
		}
	}
}

func TestARevokedKeyIsRefusedWithinTenSeconds(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	second, err := h.Key(one.files.ID, "--expires", daysAgo(-30))
	need(t, err)
	other := harness.Client{Address: h.server.Address, Key: second}
	if a := get(t, other, "/api/v1/account"); a.Status != 200 {
		t.Fatalf("a new key: %s", a)
	}
	listed := keyList(t, h, one.files.ID)
	var id string
	for _, key := range listed {
		if strings.HasPrefix(second, key.Start) && key.ExpiresAt != nil {
			id = key.KeyID
		}
	}
	if id == "" || len(listed) != 2 {
		t.Fatalf("want two keys, one with an end, got %+v", listed)
	}
	if r := h.Run("key", "revoke", id); r.Code != 0 {
		t.Fatal(r)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		a := get(t, other, "/api/v1/account")
		if a.Status == 401 {
			problemOf(t, a, 401, "invalid_key")
			break
		}
		if time.Now().After(until) {
			t.Fatalf("still let in ten seconds after the revocation: %s", a)
		}
		<-time.After(100 * time.Millisecond)
	}
	if a := get(t, one.ask, "/api/v1/account"); a.Status != 200 {
		t.Errorf("the other key: %s", a)
	}
	for _, key := range keyList(t, h, one.files.ID) {
		if (key.KeyID == id) != (key.RevokedAt != nil) {
			t.Errorf("revoked_at of %+v", key)
		}
	}
}

// listedKey is what key list --json shows of a key.
type listedKey struct {
	KeyID      string `json:"key_id"`
	Name       string
	Start      string
	Scopes     []string
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
	ExpiresAt  *string `json:"expires_at"`
	RevokedAt  *string `json:"revoked_at"`
}

func keyList(t *testing.T, h *house, account string) []listedKey {
	t.Helper()
	r := h.Run("key", "list", "--account", account, "--json")
	var list struct{ Data []listedKey }
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil || r.Code != 0 {
		t.Fatalf("key list: %v %s", err, r)
	}
	return list.Data
}

func TestKeysAreListedWithoutTheirSecret(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	list := keyList(t, h, one.files.ID)
	if len(list) != 1 {
		t.Fatalf("want one key, got %+v", list)
	}
	key := list[0]
	if key.KeyID == "" || key.Name == "" || !strings.HasPrefix(key.Start, "key_live_") || !strings.HasPrefix(one.ask.Key, key.Start) ||
		len(one.ask.Key)-len(key.Start) < 16 || len(key.Scopes) != 1 || key.Scopes[0] != "read" || key.RevokedAt != nil {
		t.Errorf("the key %+v", key)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", key.CreatedAt); err != nil {
		t.Errorf("created_at: %v", err)
	}
}

func TestTheCommandLineRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	for _, args := range [][]string{
		{"key", "create", "--account", one.files.ID, "--name", "late", "--expires", daysAgo(2)},
		{"key", "create", "--account", one.files.ID, "--name", "never", "--expires", "2027-02-30"},
		{"key", "create", "--account", "no-such-account", "--name", "x"},
		{"key", "revoke", "no-such-key"},
		{"account", "add", one.files.ID, "--name", "twice"},
		{"account", "add", "fresh-" + one.files.ID, "--name", "x", "--subscription", "forever"},
		{"load", "--account", "no-such-account", t.TempDir()},
		{"load", "--account", one.files.ID, "/no/such/path"},
		{"lode"},
	} {
		r := h.Run(args...)
		if r.Code == 0 || r.Stderr == "" || strings.Contains(r.Stderr, "goroutine ") || strings.Contains(r.Stdout, "key_live_") {
			t.Errorf("adlens %v: want words on standard error and an exit code, got %s", args, r)
		}
	}
}

func TestAccountsAreListed(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	r := h.Run("account", "list", "--json")
	var list struct {
		Data []struct {
			AccountID string `json:"account_id"`
			Name      string
		}
	}
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil || r.Code != 0 {
		t.Fatalf("account list: %v %s", err, r)
	}
	for _, account := range list.Data {
		if account.AccountID == one.files.ID && account.Name == "Account "+one.files.ID {
			return
		}
	}
	t.Errorf("want %s in data[], got %s", one.files.ID, r.Stdout)
}
