package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ask sends a statement through the gate and returns the answer's status and
// text.
func ask(t *testing.T, at Endpoint, user, password, sql string) (status int, text string) {
	t.Helper()
	return askBy(t, at, at.Gate, user, password, sql)
}

// askBy sends a statement with a value of the gate's header, "" for none.
func askBy(t *testing.T, at Endpoint, gate, user, password, sql string) (status int, text string) {
	t.Helper()
	values := url.Values{}
	if user != "" {
		values = url.Values{"user": {user}, "password": {password}}
	}
	client := http.Client{Timeout: 20 * time.Second}
	req, err := http.NewRequest(http.MethodPost, "http://"+at.Address+"/?"+values.Encode(), strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	if gate != "" {
		req.Header.Set(GateHeader, gate)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(body))
}

func must(t *testing.T, at Endpoint, sql string) string {
	t.Helper()
	status, text := ask(t, at, LoaderUser, at.LoaderPassword, sql)
	if status != http.StatusOK {
		t.Fatalf("%s: %s", sql, text)
	}
	return text
}

// makeTable leaves a row behind that a later engine must have.
func makeTable(t *testing.T, at Endpoint) {
	t.Helper()
	must(t, at, "CREATE DATABASE IF NOT EXISTS adlens")
	must(t, at, "CREATE TABLE adlens.kept (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1, fsync_part_directory = 1")
	must(t, at, "INSERT INTO adlens.kept SELECT 42")
}

func TestTheEngineStaysUntilItsLastUserHasLeft(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first, second := open(t, dir), open(t, dir)
	at := endpoint(t, first)
	if also := endpoint(t, second); also != at {
		t.Fatalf("two users in one process have two engines: %v, %v", at, also)
	}
	other := startChild(t, "use", dir)
	if said := other.says(t); said != fmt.Sprint(at.PID, " <nil>") {
		t.Fatalf("another process has engine %q, expected %d", said, at.PID)
	}
	closed(t, first) // the one that started it
	closed(t, second)
	if status, text := ask(t, at, ReaderUser, at.ReaderPassword, "SELECT 1"); status != http.StatusOK {
		t.Fatalf("the engine does not answer its last user: %s", text)
	}
	other.leave(t)
	if !gone(at.PID, time.Second) {
		t.Errorf("the last user has left, and process %d goes on", at.PID)
	}
	if running, err := isHeld(homeOf(dir).engineLock()); running || err != nil {
		t.Errorf("the lock is still held: %v", err)
	}
}

func TestAKilledEngineIsStartedAnewWithItsData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	e := open(t, dir)
	defer closed(t, e)
	at := endpoint(t, e)
	makeTable(t, at)
	log, err := os.OpenFile(e.home.logFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = log.WriteString("its last words\n")
		err = errors.Join(err, log.Close())
	}
	if err := errors.Join(err, e.killFrozen(t.Context(), at)); err != nil {
		t.Fatal(err)
	}
	if !gone(at.PID, 5*time.Second) {
		t.Fatal("the engine survived its death")
	}
	next := endpoint(t, e)
	if next.PID == at.PID || next.ReaderPassword == at.ReaderPassword {
		t.Errorf("process or password are those of the dead engine")
	}
	if said, err := os.ReadFile(e.home.logFile() + ".1"); err != nil || !strings.Contains(string(said), "its last words") {
		t.Errorf("the log of the dead engine is %q, %v", said, err)
	}
	if got := must(t, next, "SELECT n FROM adlens.kept"); got != "42" {
		t.Errorf("the table holds %q", got)
	}
}

func TestTheEngineEndsWhenItsOnlyUserIsKilled(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	user := startChild(t, "use", dir)
	var pid int
	if _, err := fmt.Sscan(user.says(t), &pid); err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatal("no engine")
	}
	user.kill()
	if !gone(pid, 10*time.Second) {
		t.Error("the engine outlives its only user")
		unix.Kill(pid, unix.SIGKILL)
	}
	e := open(t, dir) // nothing stale stands in the way
	closed(t, e)
}

// An engine that is killed, as by a machine out of memory, has no last words.
func TestAnEngineThatIsKilledWhileItStartsIsReported(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	user := startChild(t, "use", dir)
	at := Endpoint{}
	for end := time.Now().Add(time.Minute); at.PID == 0 && time.Now().Before(end); {
		at, _ = homeOf(dir).readEndpoint()
	}
	if err := unix.Kill(at.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if told := user.says(t); !strings.Contains(told, "ended while it started, with signal: killed: ") {
		t.Errorf("it says %q", told)
	}
}

// A killed process holds its locks for some milliseconds more. Who asks in
// them finds an engine that runs, and it ends while it is waited for.
func TestAnEngineThatEndsWhileItIsWaitedForIsStartedAnew(t *testing.T) {
	t.Parallel()
	e := open(t, dataDir(t))
	defer closed(t, e)
	for range 3 {
		at := endpoint(t, e)
		if err := e.killFrozen(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		next, err := e.Endpoint(t.Context())
		if err != nil || next.PID == at.PID {
			t.Fatalf("asked at once after its death: process %d, then %d: %v", at.PID, next.PID, err)
		}
	}
}

// A process that asked for an engine may give up while it starts: it is on its way all
// the same, and neither a second start nor the end of its users may overlook it.
func TestAnEngineThatNobodyWaitsForIsOverlookedByNobody(t *testing.T) {
	for patience := time.Millisecond; patience < 200*time.Millisecond; patience *= 2 {
		t.Run(patience.String(), func(t *testing.T) {
			t.Parallel()
			dir := dataDir(t)
			h := homeOf(dir)
			users, err := waitLock(t.Context(), h.usersLock(), unix.LOCK_SH)
			if err != nil {
				t.Fatal(err)
			}
			e := &Engine{home: h, users: users}
			short, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, asked := e.Endpoint(short)
			spawned := true
			if _, err := os.Stat(h.logFile()); err != nil {
				spawned = false // it gave up before
			}
			if running, err := Runs(dir); err != nil || spawned && !running {
				t.Errorf("gave up after %v (%v), started %v, runs %v, %v", patience, asked, spawned, running, err)
			}
			closed(t, e)
			if running, err := Runs(dir); err != nil || running {
				t.Errorf("it runs %v after its last user has left, %v", running, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
			time.Sleep(300 * time.Millisecond)
			if _, err := os.Stat(dir); err == nil {
				t.Error("something wrote there after the end")
			}
		})
	}
}

// An engine whose data directory was removed can no longer be asked,
// a process that still expects to use it.
func TestAnEngineLeavesWithItsDataDirectory(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	e := open(t, dir)
	at := endpoint(t, e)
	// An engine that is still alive may write while its directory goes.
	for os.RemoveAll(dir) != nil {
	}
	if !gone(at.PID, time.Minute) {
		t.Error("the engine outlives its data")
		unix.Kill(at.PID, unix.SIGKILL)
	}
	e.users.Close()
}

// Where no server watches, a command that comes to an engine that no longer
// answers replaces it. One that may still be starting is left its time.
func TestAFrozenEngineIsReplacedByItsNextUser(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	e := open(t, dir)
	defer closed(t, e)
	frozen := endpoint(t, e)
	makeTable(t, frozen)
	freeze(t, frozen.PID)
	waiting, cancel := context.WithTimeout(t.Context(), silencePatience+2*time.Second)
	defer cancel()
	if at, err := e.Endpoint(waiting); err == nil || !alive(frozen.PID) {
		t.Errorf("an engine that may be starting is not waited for: %d, %v", at.PID, err)
	}
	longAgo := time.Now().Add(-startPatience)
	if err := os.Chtimes(e.home.endpointFile(), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	next := open(t, dir)
	defer closed(t, next)
	fresh := endpoint(t, next)
	if took := time.Since(began); fresh.PID == frozen.PID || took > silencePatience+startPatience/2 {
		t.Errorf("after %v the engine is process %d", took, fresh.PID)
	}
	if got := must(t, fresh, "SELECT n FROM adlens.kept"); got != "42" {
		t.Errorf("the table holds %q", got)
	}
}
