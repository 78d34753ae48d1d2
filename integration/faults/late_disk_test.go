package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/integration/house"
)

// compiled is a shared object of a file of testdata. Without a compiler the test
// is skipped, unless ADLENS_TEST_CC=required promises one.
func compiled(t *testing.T, source string) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		if os.Getenv("ADLENS_TEST_CC") == "required" {
			t.Fatal(err)
		}
		t.Skipf("it needs a compiler of C: %v", err)
	}
	object := filepath.Join(t.TempDir(), "hold.so")
	if out, err := exec.Command("cc", "-Wall", "-Wextra", "-O2", "-shared", "-fPIC", "-o", object, filepath.Join("testdata", source), "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v %s", err, out)
	}
	return object
}

// diskDuel is a duel on the embedded engine, whose disk may be slow at one
// moment.
type diskDuel struct {
	*duel
	control string // the directory by which testdata/hold.c is told
}

// slowed are how rounds go: what is being written to a table when the loader
// is struck.
var slowed = []struct {
	table  string
	signal syscall.Signal
}{
	{"commits", syscall.SIGKILL}, {"products", syscall.SIGKILL}, {"commits", syscall.SIGTERM},
	{"number_blocks", syscall.SIGKILL}, {"seals", syscall.SIGKILL}, {"products", syscall.SIGTERM},
	{"facts", syscall.SIGKILL}, {"ledger", syscall.SIGKILL}, {"dead_generations", syscall.SIGKILL},
}

// What the engine has been sent it writes, however long the disk takes, and
// whatever has become of the loader.
func TestAnInsertOnASlowDiskSpoilsNoLaterLoad(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	object := compiled(t, "hold.c")
	kind := func(round int) string {
		return slowed[round%len(slowed)].signal.String() + " at " + slowed[round%len(slowed)].table
	}
	var ground *diskDuel
	open := func(t *testing.T, from uint64) *duel {
		control, p := t.TempDir(), house.OwnProgram(t)
		p.Settings = append(p.Settings, "LD_PRELOAD="+object, "ADLENS_TEST_HOLD="+control)
		ground = &diskDuel{openDuel(t, p, p, from), control}
		return ground.duel
	}
	duels(t, house.Scaled(3), kind, open, func(t *testing.T, _ *duel, round int) {
		ground.fight(t, round, slowed[round%len(slowed)].table, slowed[round%len(slowed)].signal)
	})
}

func (d *diskDuel) fight(t *testing.T, round int, table string, signal syscall.Signal) {
	armed, holding := filepath.Join(d.control, "armed"), filepath.Join(d.control, "holding")
	letGo := sync.OnceFunc(func() {
		os.Remove(armed)
		os.Remove(holding)
	})
	defer letGo()
	paths, others := d.rivals(t, round)
	house.Put(t, d.control, "next", []byte(tableDir(t, d.Program, table)+"/"))
	house.Need(t, os.Rename(filepath.Join(d.control, "next"), armed)) // all of it at once
	first := d.begin(t, d.Program, paths)
	d.awaitLock(t, first)
	second := d.begin(t, d.Program, others)
	for !exists(holding) {
		if first.within(time.Millisecond) {
			t.Fatalf("a load writes nothing to %s any more: %s", table, first)
		}
	}
	first.send(signal)
	first.within(takeoverPatience)
	if !second.within(takeoverPatience) {
		t.Logf("the second load waits for the write that is held back: %s", second)
	}
	letGo()
	d.settles(t, first, second)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
