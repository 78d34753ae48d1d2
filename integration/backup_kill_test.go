package integration_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// killed runs a command and kills it after a while. It tells whether the command
// had come to its end before.
func killed(t *testing.T, p *harness.Program, after time.Duration, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command := p.Command(ctx, args...)
	need(t, command.Start())
	<-time.After(after)
	// It may have ended just before; then there is nothing to kill.
	_ = command.Process.Kill()
	return command.Wait() == nil
}

// listed are the ids of the backups that a place shows.
func (c copied) listed(t *testing.T) []string {
	t.Helper()
	var said struct{ Data []struct{ Backup string } }
	r := c.Run("backup", "list", "--from", c.place, "--json")
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
		t.Fatalf("backup list: %s", r)
	}
	ids := make([]string, len(said.Data))
	for i, b := range said.Data {
		ids[i] = b.Backup
	}
	return ids
}

func TestNoKillLeavesHalfABackup(t *testing.T) {
	t.Parallel()
	from, rounds := seed(t), scaled(12)
	p := ownProgram(t)
	figures, _ := figuresAndLists(t, p, from, rounds)
	serve(t, p) // so that no round starts an engine
	place := copied{p, t.TempDir(), nil}
	began := time.Now()
	place.backup(t)
	usual, r := time.Since(began), rand.New(rand.NewPCG(from, 37))
	whole := len(place.listed(t))
	for round := range rounds {
		load(t, p, figures, takeFiles(figures, 1)...)
		if killed(t, p, time.Duration(r.Int64N(int64(usual)*5/4+1)), "backup", "--to", place.place) {
			whole++
		}
		// A backup that was killed after its last file is there too.
		if n := len(place.listed(t)); n != whole && n != whole+1 {
			t.Fatalf("round %d: %d backups are listed, %d came to their end", round, n, whole)
		} else {
			whole = n
		}
		if v := p.Run("backup", "verify", "--from", place.place); v.Code != 0 {
			t.Fatalf("round %d: %s", round, v)
		}
	}
	place.backup(t, "--keep", "1")
	if ids := place.listed(t); len(ids) != 1 {
		t.Errorf("%d backups are left of one that was to stay", len(ids))
	}
	figures.ask.Address = serve(t, place.restore(t)).Address
	checkAll(t, figures.ask, figures.model)
}

func TestNoKillOfARestoreShowsAnything(t *testing.T) {
	t.Parallel()
	from, rounds := seed(t), scaled(12)
	p := ownProgram(t)
	figures, lists := figuresAndLists(t, p, from, 0)
	place := copied{p, t.TempDir(), nil}
	place.backup(t)
	into := emptyProgram(t)
	server := serve(t, into)
	began := time.Now()
	place.restore(t)
	step := time.Since(began) / time.Duration(3*rounds) // most of it was the start of an engine
	r := rand.New(rand.NewPCG(from, 41))
	round := 0
	for whole := false; round < rounds && !whole; round++ {
		after := time.Duration(round)*step + time.Duration(r.Int64N(int64(step)+1))
		whole = killed(t, into, after, "restore", "--from", place.place)
		status := get(t, harness.Client{Address: server.Address, Key: figures.ask.Key}, "/api/v1/summary").Status
		switch {
		case whole && status != 200, !whole && status != 401 && status != 200:
			t.Fatalf("round %d: status %d, the restore came to its end: %v", round, status, whole)
		case status == 200:
			whole = true
		}
	}
	t.Logf("killed in %d rounds", round)
	// It is done, or it is done now.
	if r := into.Run("restore", "--from", place.place); r.Code != 0 && !strings.Contains(r.Stderr, "not empty") {
		t.Fatalf("restore: %s", r)
	}
	for _, one := range []*tenant{figures, lists} {
		one.ask.Address = server.Address
		awaitKey(t, one.ask)
		checkAll(t, one.ask, one.model)
	}
}

// awaitKey waits until a server has forgotten that it did not know a key.
func awaitKey(t *testing.T, c harness.Client) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); <-time.After(100 * time.Millisecond) {
		if get(t, c, "/api/v1/account").Status == 200 {
			return
		}
	}
	t.Fatal("the key of a restored account is not known")
}
