package requests_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestWrongKeysGetOneAnswer(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	// A key of another data directory is well-formed and yet unknown.
	stranger, err := house.OwnProgram(t).Account("stranger")
	house.Need(t, err)
	good := one.Ask.Key
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
		a := house.Get(t, harness.Client{Address: h.Server.Address}, "/api/v1/summary", c.headers...)
		p := house.ProblemOf(t, a, 401, "invalid_key")
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
	h := house.Shared(t)
	anonymous := harness.Client{Address: h.Server.Address}
	a := house.Get(t, anonymous, "/api/v1/summary?range=never")
	house.ProblemOf(t, a, 401, "missing_key")
	checkChallenge(t, "none", a)
	for _, header := range []string{"Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "key_live_abc"} {
		a := house.Get(t, anonymous, "/api/v1/summary", "Authorization", header)
		checkChallenge(t, header, a)
		// The contract does not say which of the two a wrong scheme is.
		if !strings.Contains(string(a.Body), `"missing_key"`) {
			house.ProblemOf(t, a, 401, "invalid_key")
		} else {
			house.ProblemOf(t, a, 401, "missing_key")
		}
	}
}

func TestARevokedKeyIsRefusedWithinTenSeconds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	second, err := h.Key(one.Files.ID, "--expires", house.DaysAgo(-30))
	house.Need(t, err)
	other := harness.Client{Address: h.Server.Address, Key: second}
	if a := house.Get(t, other, "/api/v1/account"); a.Status != 200 {
		t.Fatalf("a new key: %s", a)
	}
	listed := house.KeyList(t, h, one.Files.ID)
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
		a := house.Get(t, other, "/api/v1/account")
		if a.Status == 401 {
			house.ProblemOf(t, a, 401, "invalid_key")
			break
		}
		if time.Now().After(until) {
			t.Fatalf("still let in ten seconds after the revocation: %s", a)
		}
		<-time.After(100 * time.Millisecond)
	}
	if a := house.Get(t, one.Ask, "/api/v1/account"); a.Status != 200 {
		t.Errorf("the other key: %s", a)
	}
	for _, key := range house.KeyList(t, h, one.Files.ID) {
		if (key.KeyID == id) != (key.RevokedAt != nil) {
			t.Errorf("revoked_at of %+v", key)
		}
	}
}

func TestKeysAreListedWithoutTheirSecret(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	list := house.KeyList(t, h, one.Files.ID)
	if len(list) != 1 {
		t.Fatalf("want one key, got %+v", list)
	}
	key := list[0]
	if key.KeyID == "" || key.Name == "" || !strings.HasPrefix(key.Start, "key_live_") || !strings.HasPrefix(one.Ask.Key, key.Start) ||
		len(one.Ask.Key)-len(key.Start) < 16 || len(key.Scopes) != 1 || key.Scopes[0] != "read" || key.RevokedAt != nil {
		t.Errorf("the key %+v", key)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", key.CreatedAt); err != nil {
		t.Errorf("created_at: %v", err)
	}
}

func TestTheCommandLineRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, args := range [][]string{
		{"key", "create", "--account", one.Files.ID, "--name", "late", "--expires", house.DaysAgo(2)},
		{"key", "create", "--account", one.Files.ID, "--name", "never", "--expires", "2027-02-30"},
		{"key", "create", "--account", "no-such-account", "--name", "x"},
		{"key", "revoke", "no-such-key"},
		{"account", "add", one.Files.ID, "--name", "twice"},
		{"account", "add", "fresh-" + one.Files.ID, "--name", "x", "--subscription", "forever"},
		{"load", "--account", "no-such-account", t.TempDir()},
		{"load", "--account", one.Files.ID, "/no/such/path"},
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
	h, one := house.ShopWithData(t)
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
		if account.AccountID == one.Files.ID && account.Name == "Account "+one.Files.ID {
			return
		}
	}
	t.Errorf("want %s in data[], got %s", one.Files.ID, r.Stdout)
}

// Of the words for a subscription only canceled keeps figures back.
func TestEveryAccountThatIsNotCanceledIsAnswered(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, is := range []struct {
		subscription, demo string
		status             int
	}{{"trialing", "true", 200}, {"active", "false", 200}, {"past_due", "true", 200}, {"canceled", "false", 403}} {
		id := is.subscription + "-" + one.Files.ID
		if r := h.Run("account", "add", id, "--name", "x", "--subscription", is.subscription, "--demo="+is.demo); r.Code != 0 {
			t.Fatal(r)
		}
		key, err := h.Key(id)
		house.Need(t, err)
		ask := harness.Client{Address: h.Server.Address, Key: key}
		a := house.Get(t, ask, "/api/v1/account")
		for _, member := range []string{`"subscription":{"status":"` + is.subscription + `"}`, `"is_demo":` + is.demo} {
			if a.Status != 200 || !strings.Contains(string(a.Body), member) {
				t.Errorf("%s: want %s in %s", is.subscription, member, a.Body)
			}
		}
		if figures := house.Get(t, ask, "/api/v1/summary"); figures.Status != is.status {
			t.Errorf("%s: want %d, got %s", is.subscription, is.status, figures)
		}
	}
}
