package backup_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestNoKillLeavesHalfABackup(t *testing.T) {
	t.Parallel()
	from, rounds := house.Seed(t), house.Scaled(12)
	p := house.OwnProgram(t)
	figures, _ := house.FiguresAndLists(t, p, from, rounds)
	house.Serve(t, p) // so that no round starts an engine
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	began := time.Now()
	place.Backup(t)
	usual, r := time.Since(began), rand.New(rand.NewPCG(from, 37))
	whole := len(place.Listed(t))
	for round := range rounds {
		house.Load(t, p, figures, figures.Take(1)...)
		if house.Killed(t, p, time.Duration(r.Int64N(int64(usual)*5/4+1)), "backup", "--to", place.Place) {
			whole++
		}
		// A backup that was killed after its last file is there too.
		if n := len(place.Listed(t)); n != whole && n != whole+1 {
			t.Fatalf("round %d: %d backups are listed, %d came to their end", round, n, whole)
		} else {
			whole = n
		}
		if v := p.Run("backup", "verify", "--from", place.Place); v.Code != 0 {
			t.Fatalf("round %d: %s", round, v)
		}
	}
	place.Backup(t, "--keep", "1")
	if ids := place.Listed(t); len(ids) != 1 {
		t.Errorf("%d backups are left of one that was to stay", len(ids))
	}
	figures.Ask.Address = house.Serve(t, place.Restore(t)).Address
	house.CheckAll(t, figures.Ask, figures.Model)
}

func TestNoKillOfARestoreShowsAnything(t *testing.T) {
	t.Parallel()
	from, rounds := house.Seed(t), house.Scaled(12)
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, from, 0)
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)
	into := house.EmptyProgram(t)
	server := house.Serve(t, into)
	began := time.Now()
	place.Restore(t)
	step := time.Since(began) / time.Duration(3*rounds) // most of it was the start of an engine
	r := rand.New(rand.NewPCG(from, 41))
	round := 0
	for whole := false; round < rounds && !whole; round++ {
		after := time.Duration(round)*step + time.Duration(r.Int64N(int64(step)+1))
		whole = house.Killed(t, into, after, "restore", "--from", place.Place)
		a := house.Get(t, harness.Client{Address: server.Address, Key: figures.Ask.Key}, "/api/v1/summary")
		status := a.Status
		switch {
		case whole && status != 200, !whole && status != 401 && status != 200:
			t.Fatalf("round %d: status %d, the restore came to its end: %v: %s\n%s", round, status, whole, a.Body, server.Log())
		case status == 200:
			whole = true
		}
	}
	t.Logf("killed in %d rounds", round)
	// It is done, or it is done now.
	if r := into.Run("restore", "--from", place.Place); r.Code != 0 && !strings.Contains(r.Stderr, "not empty") {
		t.Fatalf("restore: %s", r)
	}
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = server.Address
		awaitKey(t, one.Ask)
		house.CheckAll(t, one.Ask, one.Model)
	}
}

// awaitKey waits until a server has forgotten that it did not know a key.
func awaitKey(t *testing.T, c harness.Client) {
	t.Helper()
	for until := time.Now().Add(harness.Patience); time.Now().Before(until); <-time.After(100 * time.Millisecond) {
		if house.Get(t, c, "/api/v1/account").Status == 200 {
			return
		}
	}
	t.Fatal("the key of a restored account is not known")
}
