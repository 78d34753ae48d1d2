package redis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"
)

// silence is for tests in which Redis is never away.
func silence(t *testing.T) func(error) {
	return func(err error) { t.Errorf("Redis is reported to be away: %v", err) }
}

// patient limiters wait for a Redis on a busy machine, where the time is not
// what is tested.
const patient = 10 * time.Second

func limiter(t *testing.T, address string, minute, day int, notice func(error), patience time.Duration) *Limiter {
	t.Helper()
	l, err := newLimiter(address, named("database"), minute, day, auth.NewLimiter(minute, day), notice, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// The limiter of one process is the oracle: with one clock for both, each
// decision and all that it says must be the same.
func TestRedisDecidesLikeOneProcess(t *testing.T) {
	server := miniredis.RunT(t)
	rapid.Check(t, func(r *rapid.T) {
		server.FlushAll()
		minute, day := rapid.IntRange(0, 5).Draw(r, "minute"), rapid.IntRange(0, 12).Draw(r, "day")
		oracle := auth.NewLimiter(minute, day)
		one := limiter(t, "redis://"+server.Addr(), minute, day, silence(t), patient)
		other := limiter(t, "redis://"+server.Addr(), minute, day, silence(t), patient)
		now := time.Date(2026, 11, 20, 23, 55, 0, 0, time.UTC)
		for range rapid.IntRange(1, 60).Draw(r, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(r, "pause")) * time.Millisecond)
			server.SetTime(now)
			account := rapid.SampledFrom([]string{"acme", "zeta"}).Draw(r, "account")
			l := []*Limiter{one, other}[rapid.IntRange(0, 1).Draw(r, "server")]
			key := rapid.SampledFrom([]auth.KeyLimit{{}, {KeyID: "k_a", Quotas: auth.Quotas{Minute: 2, Day: 4}}, {KeyID: "k_b", Quotas: auth.Quotas{Minute: 3}}, {KeyID: "k_c", Quotas: auth.Quotas{Day: 1}}}).Draw(r, "key")
			if diff := cmp.Diff(oracle.AllowKey(account, key, now), l.AllowKey(account, key, now)); diff != "" {
				r.Fatalf("at %s (-one process +Redis):\n%s", now, diff)
			}
		}
	})
}

// server is a real Redis on a socket of its own.
type server struct {
	path    string
	command *exec.Cmd
}

func realRedis(t *testing.T) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "adlens-redis-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &server{path: filepath.Join(dir, "redis.sock")}
	t.Cleanup(func() {
		s.stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s.start(t)
	return s
}

func (s *server) start(t *testing.T, more ...string) {
	t.Helper()
	s.command = exec.Command("redis-server", append([]string{"--port", "0", "--unixsocket", s.path, "--dir", filepath.Dir(s.path), "--save", "", "--appendonly", "yes", "--appendfsync", "always"}, more...)...)
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		l, err := New(s.address(), named("database"), 0, 0, auth.NewLimiter(0, 0), func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		err = l.client.Ping(t.Context()).Err()
		_ = l.Close()
		if err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("redis-server does not answer")
}

func (s *server) address() string { return "unix://" + s.path }

func (s *server) stop() {
	if s.command == nil {
		return
	}
	_ = s.command.Process.Signal(syscall.SIGCONT)
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
	s.command = nil
}

func named(database string) func() string { return func() string { return database } }

// A production and a copy of it on one Redis have accounts of the same ids.
func TestDatabasesOnOneRedisHaveLimitsOfTheirOwn(t *testing.T) {
	server := miniredis.RunT(t)
	for _, database := range []string{"production", "staging"} {
		l, err := newLimiter("redis://"+server.Addr(), named(database), 1, 1, auth.NewLimiter(1, 1), silence(t), patient)
		if err != nil {
			t.Fatal(err)
		}
		key := auth.KeyLimit{KeyID: "k", Quotas: auth.Quotas{Minute: 1, Day: 1}}
		for _, want := range []bool{true, false} {
			if d := l.AllowKey("acme", key, time.Now()); d.Allowed != want {
				t.Errorf("a call of %s: %+v, expected %t", database, d, want)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, key := range server.Keys() {
		if !strings.Contains(key, ":acme}:") {
			t.Errorf("the key %s is not in its account's slot of a cluster", key)
		}
		// What no call needs any more goes by itself, and a day's count not before its end.
		least, most := time.Minute, time.Minute
		if strings.HasSuffix(key, ":day") {
			least, most = 24*time.Hour, 72*time.Hour
		}
		if left := server.TTL(key); left < least || left > most {
			t.Errorf("the key %s is kept for %s, expected %s to %s", key, left, least, most)
		}
	}
}

func TestOfNinetySixCallsAtOnceSixtyAreLetInByAllServersTogether(t *testing.T) {
	t.Parallel()
	redis := realRedis(t)
	var all sync.WaitGroup
	var allowed, lied atomic.Int32
	for i := range 8 {
		l := limiter(t, redis.address(), 60, 10_000, silence(t), patient)
		for range 12 {
			all.Go(func() {
				d := l.AllowKey("acme", auth.KeyLimit{}, time.Now())
				switch {
				case d.Allowed:
					allowed.Add(1)
				case d.Limit != auth.LimitMinute || d.RetryAfter <= 0 || d.RetryAfter > time.Minute:
					lied.Add(1)
					t.Errorf("server %d: %+v", i, d)
				}
			})
		}
	}
	all.Wait()
	if allowed.Load() != 60 {
		t.Errorf("%d calls were let in, expected 60", allowed.Load())
	}
}

func TestTheDayOutlivesRedisAndServers(t *testing.T) {
	t.Parallel()
	redis := realRedis(t)
	for i := range 3 {
		l := limiter(t, redis.address(), 0, 5, silence(t), patient)
		for j := range 2 {
			if d, want := l.AllowKey("acme", auth.KeyLimit{}, time.Now()), i*2+j < 5; d.Allowed != want {
				t.Errorf("call %d of the day: %+v", i*2+j+1, d)
			}
		}
		if i == 0 {
			redis.stop()
			redis.start(t)
			l.next = time.Time{}
		}
	}
}

func TestWithoutRedisEachServerGoesOnByItself(t *testing.T) {
	for name, away := range map[string]func(*server){
		"killed": func(s *server) { s.stop() },
		"frozen": func(s *server) { _ = s.command.Process.Signal(syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := realRedis(t)
			var said []string
			l := limiter(t, redis.address(), 10, 0, func(err error) { said = append(said, fmt.Sprint(err == nil)) }, time.Second/2)
			for range 4 {
				l.AllowKey("acme", auth.KeyLimit{}, time.Now())
			}
			away(redis)
			began, allowed := time.Now(), 0
			for range 100 {
				if l.AllowKey("acme", auth.KeyLimit{}, time.Now()).Allowed {
					allowed++
				}
			}
			// Ten in all: what it let in together with Redis counts.
			if allowed != 6 {
				t.Errorf("%d further calls were let in, expected 6", allowed)
			}
			// One waits for Redis, and perhaps a second one later; the others do not.
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("100 calls took %v", took)
			}
			redis.stop()
			redis.start(t)
			time.Sleep(rest)
			l.AllowKey("zeta", auth.KeyLimit{}, time.Now())
			// Redis knows four calls of this minute, and the server ten.
			if d := l.AllowKey("acme", auth.KeyLimit{}, time.Now()); d.Allowed || d.Limit != auth.LimitMinute || d.RetryAfter <= 0 {
				t.Errorf("the eleventh call of a minute, after the outage: %+v", d)
			}
			if diff := cmp.Diff([]string{"false", "true"}, said); diff != "" {
				t.Errorf("said was (-want +got):\n%s", diff)
			}
		})
	}
}

// The server counts by itself where an answer is not the script's.
func TestAnAnswerOfAnotherLengthDecidesNothing(t *testing.T) {
	var heard []error
	l := limiter(t, "redis://"+miniredis.RunT(t).Addr(), 1, 0, func(err error) { heard = append(heard, err) }, patient)
	l.script = redis.NewScript("return {1}")
	now := time.Now()
	first, second := l.AllowKey("acme", auth.KeyLimit{}, now), l.AllowKey("acme", auth.KeyLimit{}, now)
	if !first.Allowed || second.Allowed || !l.Broken() {
		t.Errorf("of two calls one is allowed: %+v, %+v", first, second)
	}
	if len(heard) != 1 || !strings.Contains(fmt.Sprint(heard[0]), "the script answered 1 numbers") {
		t.Errorf("the errors are %v", heard)
	}
}

// A Redis without persistence restarts empty. What it has lost, and what it never saw
// because servers without it let it in, counts all the same.
func TestWhatRedisDoesNotKnowCounts(t *testing.T) {
	t.Parallel()
	redis := realRedis(t)
	now := time.Now()
	local := auth.NewReservingLimiter(5, 100)
	local.TakeElsewhere([]auth.DayUse{{Account: "acme", Day: adlens.DayOf(now.UTC()), Used: 50}, {Account: "zeta", Day: adlens.DayOf(now.UTC()), Used: 100}}, now)
	l, err := newLimiter(redis.address(), named("database"), 5, 100, local, silence(t), patient)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if d := l.AllowKey("zeta", auth.KeyLimit{}, now); d.Allowed || d.Limit != auth.LimitDay || d.RetryAfter != adlens.DayOf(now.UTC()).Time().Add(24*time.Hour).Sub(now) {
		t.Errorf("an account whose day is used up: %+v", d)
	}
	key := auth.KeyLimit{KeyID: "k_a", Quotas: auth.Quotas{Minute: 2}}
	for i, want := range []struct {
		key         auth.KeyLimit
		allowed     bool
		minute, day int // that are left
	}{{key, true, 1, 49}, {key, true, 0, 48}, {key, false, 0, 48}, {auth.KeyLimit{}, true, 2, 47}, {auth.KeyLimit{}, true, 1, 46}, {auth.KeyLimit{}, true, 0, 45}, {auth.KeyLimit{}, false, 0, 45}} {
		if err := l.client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		d := l.AllowKey("acme", want.key, now.Add(time.Duration(i)*time.Millisecond))
		if d.Allowed != want.allowed || d.Own != (!want.allowed && want.key == key) || d.Windows[0].Remaining != want.minute || d.Windows[1].Remaining != want.day {
			t.Errorf("call %d: %+v, expected %+v", i+1, d, want)
		}
	}
	// Its count is stored as it is: what would be reserved ahead, others could not use.
	if diff := cmp.Diff([]auth.DayUse{{Account: "acme", Day: adlens.DayOf(now.UTC()), Used: 5}}, local.ReserveAhead(now.Add(time.Second))); diff != "" {
		t.Errorf("what is stored (-want +got):\n%s", diff)
	}
}

// Each of these answers a PING.
func TestARedisThatRefusesTheScriptIsNamed(t *testing.T) {
	t.Parallel()
	server := realRedis(t)
	for _, c := range []struct {
		options []string
		want    string // "" where it counts
	}{
		{nil, ""},
		{[]string{"--replicaof", "127.0.0.1", "1"}, "READONLY"},
		{[]string{"--maxmemory", "1"}, ""}, // a script whose first command only deletes is let go on
		{[]string{"--user", "default", "on", "nopass", "~*", "+@all", "-@scripting"}, "NOPERM"},
		{[]string{"--appendonly", "no", "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"}, "CLUSTERDOWN"},
	} {
		server.stop()
		server.start(t, c.options...)
		client := limiter(t, server.address(), 0, 0, func(error) {}, patient).client
		if c.want == "CLUSTERDOWN" { // half of the slots are another node's
			if err := client.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 8191).Err(); err != nil {
				t.Fatal(err)
			}
			for until := time.Now().Add(patient); client.Get(t.Context(), "b").Err() != redis.Nil && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			}
		}
		slowest, err := CheckScript(t.Context(), server.address())
		if (err == nil) != (c.want == "") || !strings.Contains(fmt.Sprint(err), c.want) || err == nil && slowest <= 0 {
			t.Errorf("with %v: %v, %v, expected an error with %q", c.options, slowest, err, c.want)
		}
		if left, err := client.DBSize(t.Context()).Result(); err != nil || left != 0 {
			t.Errorf("with %v it leaves %d keys, %v", c.options, left, err)
		}
	}
}

func TestAnAddressThatIsNoneIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{"http://user:canary@host", "redis://user:canary@host:port/0"} {
		_, limiting := New(address, named("database"), 1, 1, nil, nil)
		_, checking := CheckScript(t.Context(), address)
		for _, err := range []error{limiting, checking} {
			if err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("the error is %v", err)
			}
		}
	}
}

// Requests of the second after a failure do not wait for Redis, and then one does.
func TestARedisThatFailedIsAskedBySingleRequests(t *testing.T) {
	heard := 0
	l := limiter(t, "redis://127.0.0.1:1", 1, 0, func(err error) { heard++ }, patient)
	if !l.Broken() || heard != 1 {
		t.Errorf("from the start a Redis that is away is broken: %v, reported %d times", l.Broken(), heard)
	}
	began := time.Now()
	l.answered(syscall.ECONNREFUSED, began)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {rest - 1, false}, {rest, true}, {rest, false}, {2*rest - 1, false}, {2 * rest, true}} {
		if got := l.try(began.Add(c.after)); got != c.want {
			t.Errorf("%s after it failed Redis is asked: %v, expected %v", c.after, got, c.want)
		}
	}
	for range 2 {
		l.answered(nil, began)
	}
	if heard != 2 || !l.try(began) || !l.try(began) {
		t.Errorf("once it answers, %d changes were reported, expected 2, and each request asks it", heard)
	}
}

// Servers that were started with a lower limit find more calls than it.
func TestOfALimitThatWasLoweredNothingIsLeft(t *testing.T) {
	d := decision([]int64{0, 70, 1, 1, 70, 1, 1}, []auth.Quotas{{Minute: 60, Day: 60}})
	for _, w := range d.Windows {
		if w.Remaining != 0 {
			t.Errorf("of the %s %d calls are left", w.Name, w.Remaining)
		}
	}
}
