package freshness_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// leaks are the spellings of secrets that must be found nowhere, by what they
// are. A key's start is shown on purpose, so what follows it is looked for.
type leaks map[string][]string

func (l leaks) add(what, secret string) {
	l[what] = []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))}
}

func (l leaks) addKey(what, key string) { l.add(what, key[len("key_live_")+5:]) }

func (l leaks) in(t *testing.T, where, text string) {
	t.Helper()
	for what, spellings := range l {
		for _, spelling := range spellings {
			if at := strings.Index(text, spelling); at >= 0 {
				t.Errorf("%s stands in %s: ...%q", what, where, text[max(0, at-120):at])
			}
		}
	}
}

// inFiles looks into every file below a directory.
func (l leaks) inFiles(t *testing.T, dir string) (files int) {
	t.Helper()
	house.Need(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // the engine moves its files about
		}
		if text, err := os.ReadFile(path); err == nil {
			files++
			l.in(t, path, string(text))
		}
		return nil
	}))
	return files
}

// everyPath asks every endpoint and every kind of error, the key in the wrong
// places included.
func everyPath(key string) []string {
	paths := []string{"/", "/healthz", "/readyz", "/docs/errors/invalid_key", "/nowhere", "/" + key, "/api/v1/" + key, "/api/v1/rules/" + key + "/runs",
		"/api/v1/summary?api_key=" + key, "/api/v1/summary?key=" + key, "/api/v1/summary?" + key, "/api/v1/summary?range=" + key,
		"/api/v1/summary?marketplaces=" + key, "/api/v1/campaigns?marketplace_id=" + key, "/api/v1/reports/products?page=" + key + "&sort=" + key,
		"/api/v1/summary?x=%zz" + key, "/api/v1/summary?a=1;" + key, "/api/v1/summary?" + strings.Repeat("a", 9000) + key, "/api/v1/rules/none/runs"}
	for _, e := range house.Endpoints {
		paths = append(paths, "/api/v1"+e)
	}
	return paths
}

// probe asks with the key where it belongs, where it does not, and wrongly
// written, and gives all that came back.
func probe(t *testing.T, c harness.Client, l leaks) {
	t.Helper()
	anonymous := harness.Client{Address: c.Address}
	for _, path := range everyPath(c.Key) {
		for _, from := range []harness.Client{c, anonymous} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				a, err := from.Do(method, path, "X-Api-Key", c.Key, "Cookie", "key="+c.Key, "Referer", "http://x/?"+c.Key, "User-Agent", c.Key)
				house.Need(t, err)
				l.in(t, "the answer to "+method+" "+strings.ReplaceAll(path, c.Key, "KEY"), fmt.Sprint(a.Header, a))
			}
		}
	}
	for _, header := range []string{"bearer " + c.Key, "Basic " + c.Key, "Bearer " + c.Key + "x", c.Key, "Bearer " + c.Key + ", Bearer " + c.Key} {
		l.in(t, "the answer to a wrong header", fmt.Sprint(house.Get(t, anonymous, "/api/v1/summary", "Authorization", header)))
	}
	for _, raw := range []string{"GET /" + c.Key + " HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer " + c.Key + "\r\n\r\n", c.Key + "\r\n\r\n",
		"GET /%zz" + c.Key + " HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: " + c.Key + "@\r\n\r\n"} {
		answers, _, err := c.Exchange(raw)
		house.Need(t, err)
		l.in(t, "the answer to a broken request", fmt.Sprint(answers))
	}
}

// TestNoSecretIsFoundAnywhere runs every command and endpoint and looks for
// the secrets in all that comes out and all that stays behind.
func TestNoSecretIsFoundAnywhere(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h := &house.House{Program: house.OwnProgram(t)}
	account, l := "canary", leaks{}
	key, err := h.Account(account)
	house.Need(t, err)
	revoked, err := h.Key(account)
	house.Need(t, err)
	l.addKey("a key", key)
	l.addKey("a revoked key", revoked)
	l.add("the client secret", house.CanarySecret)
	l.add("the refresh token", house.CanaryRefresh)

	day := time.Now().UTC().AddDate(0, 0, -5).Format(time.DateOnly)
	p := house.PlatformOf(t, house.Fact("B0A", day, "12.34", "50"))
	out := t.TempDir()
	commands := map[string]harness.Result{}
	run := func(name string, r harness.Result) harness.Result { commands[name] = r; return r }
	for _, args := range [][]string{{"account", "list"}, {"account", "list", "--json"}, {"account", "set", account, "--subscription", "past_due"},
		{"key", "list", "--account", account}, {"key", "list", "--account", account, "--json"},
		{"load", "--account", account, "/no/such/path"}, {"key", "create", "--account", "nobody", "--name", "x"}} {
		run(strings.Join(args, " "), h.Run(args...))
	}
	run("a refused connect", house.Connect(t, h, p, account, "a wrong secret"))
	if r := run("connect", house.Connect(t, h, p, account, house.CanarySecret)); r.Code != 0 {
		t.Fatal(r)
	}
	if r := run("pull", house.Pull(t, h, p, account, out)); r.Code != 0 {
		t.Fatal(r)
	}
	server, err := h.Program.Serve("--log-level", "debug", "--metrics-listen", "127.0.0.1:0", "--platform-url", p.URL(), "--platform-token-url", p.TokenURL())
	house.Need(t, err)
	t.Cleanup(server.Kill) // where something fails before it is told to end
	ask := harness.Client{Address: server.Address, Key: key}
	probe(t, ask, l)
	probe(t, harness.Client{Address: server.Address, Key: revoked}, l)
	for _, k := range house.KeyList(t, h, account) {
		if strings.HasPrefix(revoked, k.Start) {
			run("key revoke", h.Run("key", "revoke", k.KeyID))
		}
	}
	_, metrics := house.MetricsOf(t, server)
	l.in(t, "the metrics", metrics)
	killed, err := h.EnginePID()
	house.Need(t, err)
	house.Need(t, h.KillEngine())
	house.Get(t, ask, "/api/v1/summary") // while the engine is away
	var pid int
	house.Eventually(t, "the server has started another engine", func() bool {
		pid, err = h.EnginePID()
		return err == nil && pid != killed
	})
	house.Need(t, h.ReleaseEngine())
	house.Need(t, server.Signal(syscall.SIGQUIT)) // prints the stacks of all goroutines
	house.Eventually(t, "the engine, which writes until then, has ended with its last user", func() bool { return syscall.Kill(pid, 0) != nil })
	dumped := server.Log()
	l.in(t, "the log, with the dump of all goroutines", dumped)
	if !strings.Contains(dumped, "SIGQUIT") || !strings.Contains(dumped, `"account":"canary"`) {
		t.Errorf("the log is not whole: %.300s", dumped)
	}
	for name, r := range commands {
		l.in(t, "what "+name+" says", r.Stdout+r.Stderr)
	}
	if n := l.inFiles(t, h.DataDir) + l.inFiles(t, out); n < 20 {
		t.Errorf("only %d files were looked at", n)
	}
}
