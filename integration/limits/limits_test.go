package limits_test

import (
	"strconv"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// Far beyond any limit that a read-only API could publish for the part.
const beyond = 300 << 10

func TestRequestsBeyondTheLimitsAreRefusedWithAProblem(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	head := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + one.Ask.Key + "\r\nConnection: close\r\n"
	}
	filler := strings.Repeat("a", beyond)
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"a long address", head("/api/v1/summary?x="+filler) + "\r\n", 414},
		{"a long header", head("/api/v1/summary") + "X-Filler: " + filler + "\r\n\r\n", 431},
		{"many headers", head("/api/v1/summary") + strings.Repeat("X-Filler: aaaaaaaaaaaaaaaaaaaa\r\n", beyond/32) + "\r\n", 431},
		{"a body", head("/api/v1/summary") + "Content-Length: " + strconv.Itoa(32<<20) + "\r\n\r\n" + strings.Repeat("a", 32<<20), 413},
		{"a body in chunks", head("/api/v1/summary") + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat("a", 0x10000)+"\r\n", 512) + "0\r\n\r\n", 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := one.Ask.Raw(c.request)
			house.Need(t, err)
			house.ProblemOf(t, a, c.status, "request_too_large")
		})
	}
}

func TestEveryAnswerCarriesAnIdWhateverWasSent(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	anonymous := harness.Client{Address: h.Server.Address}
	for _, path := range []string{"/", "/docs", "/openapi.json", "/healthz", "/readyz", "/api/v1/summary", "/nowhere", "/feed/none"} {
		a := house.Get(t, anonymous, path)
		if a.Header.Get("X-Request-Id") == "" || a.Status >= 500 {
			t.Errorf("%s: %d, request id %q", path, a.Status, a.Header.Get("X-Request-Id"))
		}
	}
}

func TestTheRequestBeyondTheMinutesLimitIsRefused(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	key, err := p.Account("busy")
	house.Need(t, err)
	second, err := p.Key("busy")
	house.Need(t, err)
	server, err := p.Serve("--limit-minute", "5", "--metrics-listen", "127.0.0.1:0")
	house.Need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	// The limit is the account's, not the key's.
	clients := []harness.Client{{Address: server.Address, Key: key}, {Address: server.Address, Key: second}}
	for i := range 5 {
		// A faulty request of a valid key counts as well.
		path := []string{"/api/v1/account", "/api/v1/summary?range=never"}[i%2]
		a := house.Get(t, clients[i%2], path)
		if a.Status == 429 || a.Header.Get("RateLimit") == "" || a.Header.Get("RateLimit-Policy") == "" {
			t.Errorf("request %d: %d, RateLimit %q, RateLimit-Policy %q", i+1, a.Status, a.Header.Get("RateLimit"), a.Header.Get("RateLimit-Policy"))
		}
	}
	for _, path := range []string{"/api/v1/account", "/api/v1/summary?range=never"} {
		a := house.Get(t, clients[1], path)
		p := house.ProblemOf(t, a, 429, "rate_limited")
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 60 || p.Limit != "minute" {
			t.Errorf("Retry-After %q, limit %q", a.Header.Get("Retry-After"), p.Limit)
		}
	}
	// Path, method and key are judged before the limit.
	house.ProblemOf(t, house.Get(t, clients[0], "/api/v1/nowhere"), 404, "not_found")
	house.ProblemOf(t, house.Get(t, harness.Client{Address: server.Address}, "/api/v1/account"), 401, "missing_key")
	t.Logf("the server's log has %d bytes", len(server.Log()))
	_, metrics := house.MetricsOf(t, server)
	for _, want := range []string{`limit_refusals_total{limit="minute"} 2`, `limit_refusals_total{limit="day"} 0`,
		`http_request_duration_seconds_count{answer="",route="/api/v1/account",status="429"} 1`} {
		if !strings.Contains(metrics, "\nadlens_"+want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
}

// A server that holds the limits by itself is ready, and says so.
func TestAServerWithoutItsRedisIsReadyAndSaysSo(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	server, err := p.Serve("--redis", "redis://127.0.0.1:1")
	house.Need(t, err)
	a := house.Get(t, harness.Client{Address: server.Address, Other: true}, "/readyz")
	if a.Status != 200 || !strings.Contains(string(a.Body), "Redis does not answer") {
		t.Errorf("/readyz: %s", a)
	}
	house.Need(t, server.Stop())
}

// calls counts how many of n calls are let in.
func calls(t *testing.T, c harness.Client, n int) (allowed int) {
	t.Helper()
	for range n {
		if a := house.Get(t, c, "/api/v1/account"); a.Status != 429 {
			allowed++
		} else if p := house.ProblemOf(t, a, 429, "rate_limited"); p.Limit != "day" {
			t.Errorf("the limit is %q, expected day", p.Limit)
		}
	}
	return allowed
}

func TestTheDaysCountOutlivesServersHoweverTheyEnd(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	house.AwayFromMidnight(t) // a new day counts from zero
	key, err := p.Account("busy")
	house.Need(t, err)
	first, err := p.Serve("--limit-day", "20")
	house.Need(t, err)
	if n := calls(t, harness.Client{Address: first.Address, Key: key}, 5); n != 5 {
		t.Errorf("%d of 5 calls were let in", n)
	}
	house.Need(t, first.Stop())
	second, err := p.Serve("--limit-day", "20")
	house.Need(t, err)
	if n := calls(t, harness.Client{Address: second.Address, Key: key}, 6); n != 6 {
		t.Errorf("%d of 6 calls were let in", n)
	}
	second.Kill() // with the answer to the last call on its way
	third, err := p.Serve("--limit-day", "20")
	house.Need(t, err)
	if n := calls(t, harness.Client{Address: third.Address, Key: key}, 12); n != 9 {
		t.Errorf("%d calls were let in after 11 of 20, expected 9", n)
	}
	house.Need(t, third.Stop())
}

// What servers without Redis let in, and what a Redis without persistence has lost, counts.
func TestTheDaysCountOutlivesARedisThatForgets(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	house.AwayFromMidnight(t)
	key, err := p.Account("busy")
	house.Need(t, err)
	for i, c := range []struct {
		redis         bool
		sent, allowed int
	}{{false, 6, 6}, {true, 2, 2}, {true, 10, 2}} {
		args := []string{"--limit-day", "10"}
		if c.redis {
			address, stop := house.RedisServer(t) // an empty one each time
			defer stop()
			args = append(args, "--redis", address)
		}
		server, err := p.Serve(args...)
		house.Need(t, err)
		if allowed := calls(t, harness.Client{Address: server.Address, Key: key}, c.sent); allowed != c.allowed {
			t.Errorf("server %d: %d of %d calls were let in, expected %d", i+1, allowed, c.sent, c.allowed)
		}
		house.Need(t, server.Stop())
	}
}

// Nothing is lost with a server that is killed in the middle of many calls, and
// a block of 3 calls at most is refused too early.
func TestAKillLosesNoneOfTheDaysCalls(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	house.AwayFromMidnight(t)
	key, err := p.Account("busy")
	house.Need(t, err)
	const quota, block = 300, 3
	allowed := 0
	for kills, n := range []int{50, 1, 120, quota} {
		server, err := p.Serve("--limit-day", strconv.Itoa(quota), "--limit-minute", "0")
		house.Need(t, err)
		allowed += calls(t, harness.Client{Address: server.Address, Key: key}, n)
		if n == quota {
			if allowed > quota || allowed < quota-kills*block {
				t.Errorf("%d calls of %d were let in with %d kills; expected at most %d fewer", allowed, quota, kills, kills*block)
			}
			house.Need(t, server.Stop())
			continue
		}
		server.Kill()
	}
}

func TestWhoGuessesKeysHasToWait(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	key, err := p.Account("acct")
	house.Need(t, err)
	server := house.Serve(t, p)
	known := harness.Client{Address: server.Address, Key: key}
	if a := house.Get(t, known, "/api/v1/account"); a.Status != 200 {
		t.Fatal(a)
	}
	wrong := harness.Client{Address: server.Address, Key: "key_live_" + strings.Repeat("a", 40)}
	refused := 0
	for range 300 {
		a := house.Get(t, wrong, "/api/v1/account")
		if a.Status == 401 && refused == 0 {
			continue
		}
		refused++
		if pr := house.ProblemOf(t, a, 429, "rate_limited"); pr.Limit != "address" || a.Header.Get("Retry-After") == "" {
			t.Fatalf("limit %q, Retry-After %q", pr.Limit, a.Header.Get("Retry-After"))
		}
	}
	if refused != 100 {
		t.Errorf("%d of 300 wrong keys were refused unseen, expected 100", refused)
	}
	if a := house.Get(t, known, "/api/v1/account"); a.Status != 200 {
		t.Errorf("a good key of the same address: %s", a)
	}
	// Neither the server nor its memory has seen this one before.
	unseen, err := p.Key("acct")
	house.Need(t, err)
	if a := house.Get(t, harness.Client{Address: server.Address, Key: unseen}, "/api/v1/account"); a.Status != 200 {
		t.Errorf("a good key that is new at the same address: %s", a)
	}
}
