package limits_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// A key's own limit holds within its account's, over a restart that kills the server,
// and leaves the rest to other keys.
func TestAKeysOwnLimitLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	free, err := p.Account("acme")
	house.Need(t, err)
	own, err := p.Key("acme", "--limit-minute", "3", "--limit-day", "5")
	house.Need(t, err)
	begin := func() *harness.Server {
		server, err := p.Serve("--limit-minute", "6", "--limit-day", "100")
		house.Need(t, err)
		t.Cleanup(func() { server.Stop() })
		return server
	}
	server := begin()
	ask := func(key string) harness.Answer {
		return house.Get(t, harness.Client{Address: server.Address, Key: key}, house.AccountPath)
	}
	for i, left := range []string{"2", "1", "0"} {
		a := ask(own)
		if limits := a.Header.Get("RateLimit"); a.Status != 200 || !strings.Contains(limits, `"minute";r=`+left) || !strings.HasPrefix(a.Header.Get("RateLimit-Policy"), `"minute";q=3;w=60, "day";q=5;`) {
			t.Errorf("request %d: %d, %s of %s", i+1, a.Status, limits, a.Header.Get("RateLimit-Policy"))
		}
	}
	refused := house.ProblemOf(t, ask(own), 429, "rate_limited")
	if refused.Limit != "minute" || !strings.Contains(refused.Detail, "this key's own limit of requests per minute") {
		t.Errorf("refused with %+v", refused)
	}
	for i := range 3 { // the refused request took nothing of the account's
		if a := ask(free); a.Status != 200 || !strings.HasPrefix(a.Header.Get("RateLimit-Policy"), `"minute";q=6;w=60`) {
			t.Errorf("request %d with the other key: %d, %s", i+1, a.Status, a.Header.Get("RateLimit-Policy"))
		}
	}
	if refused := house.ProblemOf(t, ask(free), 429, "rate_limited"); !strings.Contains(refused.Detail, "the account's limit of requests per minute") {
		t.Errorf("refused with %+v", refused)
	}
	house.AwayFromMidnight(t)
	server.Kill()
	server = begin()
	allowed := 0
	for ask(own).Status == 200 {
		allowed++
	}
	if allowed < 1 || allowed > 2 { // one may be reserved
		t.Errorf("after a kill %d more requests of the day are let in, 3 of 5 were used", allowed)
	}
}

// Both servers ask one Redis.
func TestAKeysOwnLimitIsSharedByServers(t *testing.T) {
	t.Parallel()
	address, stop := house.RedisServer(t)
	defer stop()
	p := house.OwnProgram(t)
	if _, err := p.Account("acme"); err != nil {
		t.Fatal(err)
	}
	own, err := p.Key("acme", "--limit-minute", "4")
	house.Need(t, err)
	allowed := 0
	var clients []harness.Client
	for range 2 {
		server, err := p.Serve("--limit-minute", "20", "--redis", address)
		house.Need(t, err)
		t.Cleanup(func() { server.Stop() })
		clients = append(clients, harness.Client{Address: server.Address, Key: own})
	}
	for i := range 12 {
		if house.Get(t, clients[i%2], house.AccountPath).Status == 200 {
			allowed++
		}
	}
	if allowed != 4 {
		t.Errorf("two servers let %d requests of a key in, its limit is 4", allowed)
	}
}

type shownKey struct {
	Key, Name, Start string
	KeyID            string   `json:"key_id"`
	Marketplaces     []string `json:"marketplaces"`
	LimitMinute      *int     `json:"limit_minute"`
	LimitDay         *int     `json:"limit_day"`
	ExpiresAt        *string  `json:"expires_at"`
	RevokedAt        *string  `json:"revoked_at"`
	Successor        *string  `json:"successor"`
	Replaces         *shownKey
}

func shownKeys(t *testing.T, h *house.House, account string) map[string]shownKey {
	t.Helper()
	r := h.Run("key", "list", "--account", account, "--json")
	var list struct{ Data []shownKey }
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil || r.Code != 0 {
		t.Fatalf("key list: %v %s", err, r)
	}
	byID := map[string]shownKey{}
	for _, k := range list.Data {
		byID[k.KeyID] = k
	}
	return byID
}

func TestASuccessorTakesOverAndTheOldKeyEnds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	status := func(key string) int {
		return house.Get(t, harness.Client{Address: h.Server.Address, Key: key}, house.AccountPath).Status
	}
	made := func(args ...string) (k shownKey) {
		r := h.Run(append(args, "--json")...)
		if err := json.Unmarshal([]byte(r.Stdout), &k); err != nil || r.Code != 0 {
			t.Fatalf("%q: %v %s", args, err, r)
		}
		return k
	}
	old := made("key", "create", "--account", one.Files.ID, "--name", "sheet", "--marketplaces", "gb, US", "--limit-minute", "7", "--limit-day", "70", "--expires", "2031-12-31")
	r := h.Run("key", "rotate", old.KeyID, "--overlap", "3s")
	key := strings.TrimSuffix(r.Stdout, "\n")
	if r.Code != 0 || !strings.HasPrefix(key, "key_live_") || strings.ContainsAny(key, " \n") || strings.Contains(r.Stderr, key) || !strings.Contains(r.Stderr, "ends at") {
		t.Fatalf("key rotate: %s", r)
	}
	if status(old.Key) != 200 || status(key) != 200 {
		t.Error("one of the keys is refused during the overlap")
	}
	keys := shownKeys(t, h, one.Files.ID)
	ended := keys[old.KeyID]
	if ended.Successor == nil || ended.ExpiresAt == nil || ended.RevokedAt != nil {
		t.Fatalf("the old key is %+v", ended)
	}
	next := keys[*ended.Successor]
	if next.Name != "sheet" || !strings.HasPrefix(key, next.Start) || strings.Join(next.Marketplaces, ",") != "UK,US" || next.LimitMinute == nil || *next.LimitMinute != 7 || next.LimitDay == nil || *next.LimitDay != 70 ||
		next.ExpiresAt == nil || *next.ExpiresAt != *old.ExpiresAt || next.Successor != nil {
		t.Errorf("the successor is %+v", next)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{old.KeyID}, "was replaced by " + next.KeyID},
		{[]string{"k_none"}, `there is no key "k_none"`},
		{[]string{next.KeyID, "--overlap", "-1s"}, "--overlap -1s: expected 0 to"},
		{[]string{next.KeyID, "--overlap", "9999h"}, "--overlap 9999h0m0s: expected 0 to"},
		{nil, "KEY_ID is missing"},
	} {
		if r := h.Run(append([]string{"key", "rotate"}, c.args...)...); r.Code == 0 || !strings.Contains(r.Stderr, c.want) || r.Stdout != "" {
			t.Errorf("key rotate %q: %s; want %q", c.args, r, c.want)
		}
	}
	house.Eventually(t, "the old key is refused after the overlap", func() bool { return status(old.Key) == 401 })
	last := made("key", "rotate", next.KeyID, "--overlap", "0")
	if last.Replaces == nil || last.Replaces.RevokedAt == nil || *last.Replaces.Successor != last.KeyID {
		t.Errorf("the third key is %+v, in place of %+v", last, last.Replaces)
	}
	house.Promptly(t, "a key without overlap is refused", func() bool { return status(key) == 401 })
	if status(last.Key) != 200 {
		t.Error("the last successor is refused")
	}
	if r := h.Run("key", "rotate", next.KeyID); r.Code == 0 || !strings.Contains(r.Stderr, "was revoked at") {
		t.Errorf("a revoked key is replaced: %s", r)
	}
	if keys := shownKeys(t, h, one.Files.ID); len(keys) != 4 {
		t.Errorf("the account has %d keys, want its first, the one that was made and two successors", len(keys))
	}
}

func TestAKeyThatCannotBeMadeIsRefusedByName(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, c := range []struct {
		flag, value, want string
	}{
		{"--marketplaces", "DE", `--marketplaces: "DE" (Germany) is not connected to this account; the connected marketplaces are: UK, US`},
		{"--marketplaces", "US,KU", `--marketplaces: "KU" is not known here; the connected marketplaces are: UK, US`},
		{"--marketplaces", "999", `"999" is not known here`},
		{"--marketplaces", "", `--marketplaces "": expected country codes or marketplace ids`},
		{"--marketplaces", "US,,UK", `--marketplaces "US,,UK": expected`},
		{"--limit-minute", "0", "--limit-minute 0: expected a number from 1 to 1000000000"},
		{"--limit-day", "-4", "--limit-day -4: expected"},
		{"--limit-day", "2000000000", "--limit-day 2000000000: expected"},
	} {
		r := h.Run("key", "create", "--account", one.Files.ID, "--name", "x", c.flag, c.value)
		if r.Code == 0 || !strings.Contains(r.Stderr, c.want) || r.Stdout != "" {
			t.Errorf("%s %q: %s\nwant %q", c.flag, c.value, r, c.want)
		}
	}
	if keys := shownKeys(t, h, one.Files.ID); len(keys) != 1 {
		t.Errorf("a refused key was stored: %v", keys)
	}
}
