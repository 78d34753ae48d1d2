package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/standin"
)

// Damage to one account of many, beside a server that runs: what was done is
// named, and nothing else.
func TestTheDoctorNamesWhatIsWrongWithAnAccount(t *testing.T) {
	t.Parallel()
	needEngine(t)
	h := ownHouse(t)
	for _, c := range []struct {
		name   string
		damage string // %s is the account
		want   []sick
	}{
		{"nothing", "SELECT 1 /* %s */", nil},
		{"the total of a day is gone", "ALTER TABLE day_totals DELETE WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"manifest", "failed", "day_totals: "}, {"rollups", "failed", "day_totals differs from their facts: US 3982475484689176"}}},
		{"the total of a day is another", "ALTER TABLE day_totals UPDATE spend = spend + 0.000001 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}}},
		{"the total of a day is of another marketplace", "ALTER TABLE day_totals UPDATE marketplace_key = 7 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}}},
		{"what one product has too much another lacks", "ALTER TABLE month_products UPDATE clicks = if(product_key = 1, clicks + 1, clicks - 1) WHERE account_id = '%s'",
			[]sick{{"rollups", "failed", "month_products"}}},
		{"a year has no products", "ALTER TABLE year_products DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "year_products: "}, {"rollups", "failed", "year_products differs from their months: US 3982475484689176"}}},
		{"a fact changed", "ALTER TABLE facts UPDATE clicks = clicks + 1 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}, {"rollups", "failed", "month_products"}}},
		{"facts are gone", "ALTER TABLE facts DELETE WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"manifest", "failed", "rows, "}}},
		{"numbers of products are gone", "ALTER TABLE products DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "products: the whole has 0 rows, "}}},
		{"titles are gone", "ALTER TABLE product_titles DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "product_titles: the whole has 0 rows, "}}},
		{"a load of tomorrow", "INSERT INTO commits SELECT * REPLACE (now64(3) + INTERVAL 1 DAY AS committed_at) FROM commits WHERE account_id = '%s' LIMIT 1",
			[]sick{{"clock", "failed", "this clock is late"}}},
		{"a load that died", "INSERT INTO number_blocks SELECT account_id, max(next), max(next) + 1024, 'died' FROM number_blocks WHERE account_id = '%s' GROUP BY account_id",
			[]sick{{"dead_loads", "warning", "a load was interrupted"}}},
		{"an expired key", "INSERT INTO api_keys SELECT * REPLACE (now64(3) - INTERVAL 1 DAY AS expires_at, now64(9) AS updated_at) FROM api_keys WHERE account_id = '%s'",
			[]sick{{"keys", "warning", "expired at"}, {"keys", "warning", "no key is valid"}}},
		{"a key that will expire", "INSERT INTO api_keys SELECT * REPLACE (now64(3) + INTERVAL 10 DAY AS expires_at, now64(9) AS updated_at) FROM api_keys WHERE account_id = '%s'",
			[]sick{{"keys", "warning", "expires at"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			account := "doctor-" + name(t)[len("testthedoctornameswhatiswrongwithanaccount-"):]
			healthy(t, h.Program, account)
			asWriter(t, h.Program, fmt.Sprintf(c.damage, account))
			for _, f := range doctor(t, h.Program, c.want, "--account", account) {
				if f.Status != "ok" && (f.Account == nil || *f.Account != account) {
					t.Errorf("%s: %s is of no account", f.Check, f.Detail)
				}
			}
		})
	}
}

func TestTheDoctorLeavesOutWhatTakesLong(t *testing.T) {
	t.Parallel()
	needEngine(t)
	h := ownHouse(t)
	healthy(t, h.Program, name(t))
	asWriter(t, h.Program, fmt.Sprintf("ALTER TABLE day_totals UPDATE spend = spend + 0.000001 WHERE account_id = '%s'", name(t)))
	for _, f := range doctor(t, h.Program, nil, "--account", name(t), "--quick") {
		if f.Check == "rollups" {
			t.Errorf("with --quick: %v", f)
		}
	}
}

func TestTheDoctorKnowsAnUnknownAccount(t *testing.T) {
	t.Parallel()
	if r := sharedHouse(t).Run("doctor", "--account", "nobody-at-all"); r.Code != 1 || !strings.Contains(r.Stderr, `account "nobody-at-all" does not exist`) {
		t.Errorf("%s", r)
	}
}

// An examination leaves everything as it was: no row, no part, no mutation, no
// file more or less.
func TestTheDoctorChangesNothing(t *testing.T) {
	t.Parallel()
	needEngine(t)
	p := ownProgram(t)
	server := serve(t, p)
	healthy(t, p, "acct")
	state := func() string {
		return asWriter(t, p, "SELECT table, sum(rows), countIf(level = 0) FROM system.parts WHERE database = 'adlens' AND active AND table != 'leases' GROUP BY table ORDER BY table") +
			asWriter(t, p, "SELECT count() FROM system.mutations WHERE database = 'adlens'") + outside(t, p.DataDir)
	}
	before := state()
	doctor(t, p, nil)
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if answer, err := (harness.Client{Address: server.Address}).Get("/readyz"); err != nil || answer.Status != 200 {
		t.Errorf("the server meanwhile: %s %v", answer, err)
	}
}

// outside lists the files of a data directory but those of the engine's store.
func outside(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	need(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == filepath.Join(dir, "engine", "store") {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintln(&all, path, info.Mode(), info.Size())
		}
		return err
	}))
	return all.String()
}

func TestTheDoctorLooksAtTheConnection(t *testing.T) {
	t.Parallel()
	p, platform := ownProgram(t), platformOf(t)
	healthy(t, p, "acct")
	if r := speakAs(t, p, platform, canarySecret, canaryRefresh, "connect", "--account", "acct", "--region", "NA", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	doctor(t, p, nil)
	platform.Revoke(canaryRefresh)
	speakAs(t, p, platform, canarySecret, canaryRefresh, "pull", "--account", "acct", "--out", t.TempDir())
	refused := sick{"connection", "failed", "the platform refused its credentials"}
	doctor(t, p, []sick{refused})

	// A server whose platform does not answer at all.
	key, err := p.Key("acct")
	need(t, err)
	server := serve(t, p)
	get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/campaigns?marketplace_id=3982475484689176")
	logged(t, server, "figures could not be refreshed")
	logged(t, server, "campaigns could not be read")
	all := doctor(t, p, []sick{refused, {"refresh", "warning", "figures could not be refreshed, once"}, {"lists", "warning", "the lists of US 3982475484689176 could not be read, once"}})
	for _, f := range all {
		if strings.Contains(f.Detail, "canary") {
			t.Errorf("a secret: %v", f)
		}
	}
}

// logged waits until a server's log has some words.
func logged(t *testing.T, server *harness.Server, words string) {
	t.Helper()
	for until := time.Now().Add(refreshTime); !strings.Contains(server.Log(), words); <-time.After(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the log never says %q: %s", words, server.Log())
		}
	}
}

func TestTheDoctorLooksAtTheAgeOfFigures(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	account := name(t)
	_, err := h.Program.Account(account)
	need(t, err)
	doctor(t, h.Program, []sick{{"data_age", "warning", "no figures are held"}}, "--account", account)
	dir := healthyFiles(t)
	old, err := filepath.Glob(filepath.Join(dir, "half-0.*"))
	need(t, err)
	for _, path := range old {
		need(t, os.Remove(path))
	}
	if l, err := h.Program.Load(account, dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	doctor(t, h.Program, []sick{{"data_age", "warning", "11 days ago"}}, "--account", account)
	if r := h.Run("account", "set", account, "--subscription", "canceled"); r.Code != 0 {
		t.Fatal(r)
	}
	doctor(t, h.Program, nil, "--account", account)
}

func TestTheDoctorAsksRedis(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	account := name(t)
	healthy(t, h.Program, account)
	address, stop := redisServer(t)
	doctor(t, h.Program, nil, "--account", account, "--redis", address)
	stop()
	doctor(t, h.Program, []sick{{"limits_store", "failed", "Redis does not answer"}}, "--account", account, "--redis", address)
	for _, f := range doctor(t, h.Program, []sick{{"limits_store", "failed", "no address of a Redis"}}, "--account", account, "--redis", "redis//:s3cret@host") {
		if strings.Contains(f.Detail, "s3cret") {
			t.Errorf("the password is shown: %v", f)
		}
	}
}

// redisServer starts a real Redis.
func redisServer(t *testing.T) (address string, stop func()) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "adlens-redis-") // a socket's path must be short
	need(t, err)
	path := filepath.Join(dir, "redis.sock")
	command := exec.Command("redis-server", "--port", "0", "--unixsocket", path, "--dir", dir, "--save", "")
	need(t, command.Start())
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	t.Cleanup(func() {
		stop()
		need(t, os.RemoveAll(dir))
	})
	for until := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return "unix://" + path, stop
		}
		if time.Now().After(until) {
			t.Fatal("redis-server does not listen")
		}
	}
}
