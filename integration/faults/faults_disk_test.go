package faults_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// A disk that is full refuses loads and goes on answering; with space again it
// loads again, without anybody having restarted anything.
func TestAFullDiskRefusesLoadsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := openWard(t, house.Mounted(t), 1)
	w.start(t)
	w.isWhole(t)
	one := w.tenants[0]
	for _, left := range []int64{0, 8 << 10, 64 << 10, 256 << 10} {
		free := fill(t, w.DataDir, left)
		paths := one.Take(1)
		done, err := w.Load(one.Files.ID, paths...)
		house.Need(t, err)
		t.Logf("%d bytes left: exit code %d, %s", left, done.Code, done.Stderr)
		if done.Code == 0 {
			one.Model.Load(paths...) // so little was enough
		} else if !strings.Contains(strings.ToLower(done.Stderr), "disk is full") {
			t.Errorf("a full disk is told like this: %s", done.Result)
		}
		w.awaits(t, "")
		w.isWhole(t)
		free()
		house.Load(t, w.Program, one, paths...)
		w.isWhole(t)
	}
	w.stop(t)
}

// A server that starts on a full disk answers, or says that the disk is full.
func TestAServerStartsOnAFullDiskOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	w := openWard(t, house.Mounted(t), 1)
	for _, left := range []int64{0, 16 << 10, 1 << 20} {
		free := fill(t, w.DataDir, left)
		server, err := w.Serve()
		if err != nil {
			t.Logf("%d bytes left: %v", left, err)
			if !strings.Contains(err.Error(), "disk is full") {
				t.Errorf("with %d bytes left, the start fails like this: %v", left, err)
			}
			free()
			w.start(t)
		} else {
			t.Logf("%d bytes left: it starts", left)
			w.server, w.tenants[0].Ask.Address = server, server.Address
			w.isWhole(t)
			free()
		}
		house.Load(t, w.Program, w.tenants[0], w.tenants[0].Take(1)...)
		w.isWhole(t)
		w.stop(t)
	}
}

// The first command of a new version brings the schema up to date, which needs some space.
func TestAnUpgradeOnAFullDiskSaysSo(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	l := landed{"testdata/landed/schema-17"}
	old, err := harness.New(l.unpack(t, "data.tar.gz"))
	house.Need(t, err)
	p, err := old.CopyTo(house.Mounted(t))
	house.Need(t, err)
	refused := false
	for _, left := range []int64{0, 512 << 10, 1 << 20, 2 << 20} {
		free := fill(t, p.DataDir, left)
		r := p.Run("account", "list")
		refused = refused || strings.Contains(r.Stderr, "run the same command again: schema/")
		t.Logf("%d bytes left: %s", left, r)
		if r.Code != 0 && strings.Count(r.Stderr, "the disk is full: ") != 1 {
			t.Errorf("with %d bytes left, the upgrade fails like this: %s", left, r)
		}
		free()
	}
	if !refused {
		t.Error("no step of the schema met the full disk")
	}
	l.wantAnswers(t, p)
}

// A disk that is full for moments, again and again, under loads and merges: no
// load that was acknowledged is lost, none that was not is seen, everything is
// answered meanwhile and after a restart, and loading goes on by itself.
func TestMomentsOfAFullDiskLoseNothing(t *testing.T) {
	house.NeedEngine(t)
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var dir string
			if kind == "ext4" {
				_, dir = disk(t)
			} else {
				dir = house.Mounted(t)
			}
			from := house.Seed(t)
			w := openWardOf(t, dir, 2, house.Scaled(60)+1)
			w.start(t, withoutMemory...)
			var going sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			for _, one := range w.tenants {
				going.Go(func() { w.asksOn(t, ctx, one) })
			}
			w.loadsUnderMoments(t, rand.New(rand.NewPCG(from, 23)), time.Duration(house.Scaled(8))*time.Second)
			cancel()
			going.Wait()
			w.isWhole(t)
			house.Need(t, w.KillEngine())
			w.awaits(t, "")
			w.isWhole(t)
			w.stop(t)
			w.start(t)
			w.isWhole(t)
			for _, one := range w.tenants {
				house.Load(t, w.Program, one, one.Files.Reports[len(one.Files.Reports)-1].Files()...)
			}
			w.isWhole(t)
			if strings.Contains(w.server.Log(), "damaged") {
				t.Errorf("the engine set parts aside: %s", w.server.Log())
			}
			w.stop(t)
		})
	}
}

// loadsUnderMoments loads the reports of all accounts while the disk is full for
// moments. Each report is loaded again until it is acknowledged.
func (w *ward) loadsUnderMoments(t *testing.T, r *rand.Rand, length time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var going sync.WaitGroup
	going.Go(func() { fillForMoments(t, ctx, r, w.DataDir) })
	for _, one := range w.tenants {
		going.Go(func() {
			acknowledged, refused := 0, 0
			for _, report := range one.Files.Reports[:len(one.Files.Reports)-1] {
				for done := false; !done && ctx.Err() == nil; {
					if done = w.loadsOrSaysFull(t, one, report.Files()); done {
						acknowledged++
					} else {
						refused++
					}
				}
			}
			t.Logf("account %s: %d loads acknowledged, %d refused", one.Files.ID, acknowledged, refused)
		})
	}
	going.Wait()
}

// loadsOrSaysFull loads a report, and demands that the reason for a failure is
// given truly. Whatever was acknowledged is in the model.
func (w *ward) loadsOrSaysFull(t *testing.T, one *house.Tenant, paths []string) (acknowledged bool) {
	done, err := w.LoadNow(one.Files.ID, paths...)
	if err != nil && !strings.Contains(strings.ToLower(done.Stderr), "disk is full") {
		t.Errorf("a full disk is told like this: %v", err)
	}
	for _, file := range done.Files {
		acknowledged = acknowledged || file.Status == "loaded" || file.Status == "unchanged" || file.Status == "refused"
	}
	if acknowledged {
		one.Model.Load(paths...)
	} else if !strings.Contains(strings.ToLower(done.Stderr), "disk is full") {
		t.Errorf("a full disk is told like this: %s", done.Result)
	}
	return acknowledged
}

// fillForMoments takes the last byte of a disk and gives all back, again and
// again. What the engine frees meanwhile is taken as well.
func fillForMoments(t *testing.T, ctx context.Context, r *rand.Rand, dir string) {
	path := dir + "/ballast"
	upTo := func(most time.Duration) time.Duration { return most/10 + time.Duration(r.Int64N(int64(most))) }
	for ctx.Err() == nil {
		ballast, err := os.Create(path)
		if err != nil {
			t.Error(err)
			return
		}
		var taken int64
		for until := time.Now().Add(upTo(200 * time.Millisecond)); time.Now().Before(until); <-time.After(time.Millisecond) {
			var stat syscall.Statfs_t
			if err := syscall.Statfs(dir, &stat); err != nil {
				t.Error(err)
			}
			left := int64(stat.Bavail) * stat.Bsize
			if left > 0 && syscall.Fallocate(int(ballast.Fd()), 0, taken, left) == nil {
				taken += left
			}
		}
		if err := ballast.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		<-time.After(upTo(400 * time.Millisecond))
	}
}

// asksOn demands an answer to every question until the context ends.
func (w *ward) asksOn(t *testing.T, ctx context.Context, one *house.Tenant) {
	for asked := 0; ; asked++ {
		a, err := one.Ask.Get("/api/v1" + products.String())
		if ctx.Err() != nil {
			t.Logf("account %s: %d questions answered", one.Files.ID, asked)
			return
		}
		if err != nil || a.Status != 200 {
			t.Errorf("with a disk that is full for moments: %v %.300s", err, a)
		}
		<-time.After(20 * time.Millisecond)
	}
}
