package integration_test

import (
	"fmt"
	"strings"
	"testing"
)

// A disk that is full refuses loads and goes on answering; with space again it
// loads again, without anybody having restarted anything.
func TestAFullDiskRefusesLoadsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := openWard(t, mounted(t, "none", "tmpfs", fmt.Sprintf("size=%d", 256<<20)), 1)
	w.start(t)
	w.isWhole(t)
	one := w.tenants[0]
	for _, left := range []int64{0, 8 << 10, 64 << 10, 256 << 10} {
		free := fill(t, w.DataDir, left)
		paths := one.take(1)
		done, err := w.Load(one.files.ID, paths...)
		need(t, err)
		t.Logf("%d bytes left: exit code %d, %s", left, done.Code, done.Stderr)
		if done.Code == 0 {
			one.model.Load(paths...) // so little was enough
		} else if !strings.Contains(strings.ToLower(done.Stderr), "disk is full") {
			t.Errorf("a full disk is told like this: %s", done.Result)
		}
		w.awaits(t, "")
		w.isWhole(t)
		free()
		load(t, w.Program, one, paths...)
		w.isWhole(t)
	}
	w.stop(t)
}

// A server that starts on a full disk answers, or says that the disk is full.
func TestAServerStartsOnAFullDiskOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	w := openWard(t, mounted(t, "none", "tmpfs", fmt.Sprintf("size=%d", 256<<20)), 1)
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
			w.server, w.tenants[0].ask.Address = server, server.Address
			w.isWhole(t)
			free()
		}
		load(t, w.Program, w.tenants[0], w.tenants[0].take(1)...)
		w.isWhole(t)
		w.stop(t)
	}
}
