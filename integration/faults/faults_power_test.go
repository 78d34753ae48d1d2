package faults_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

const diskSize = 384 << 20

// disk makes a file system in a file and mounts it. Both need root and a loop
// device.
func disk(t *testing.T) (image, dir string) {
	t.Helper()
	image = filepath.Join(t.TempDir(), "disk.img")
	house.Need(t, os.WriteFile(image, nil, 0o600))
	house.Need(t, os.Truncate(image, diskSize))
	if out, err := exec.Command("mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
		t.Skipf("a file system cannot be made here: %v %s", err, out)
	}
	return image, attached(t, image)
}

// attached mounts an image of a disk.
func attached(t *testing.T, image string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("a file system in a file cannot be mounted here, which needs root and a loop device: %v %s", err, out)
	}
	t.Cleanup(func() { detach(t, dir) })
	return dir
}

// detach unmounts a disk once the last process there is gone: its locks are
// free a moment earlier.
func detach(t *testing.T, dir string) {
	t.Helper()
	house.Eventually(t, "the disk is free", func() bool { return exec.Command("umount", dir).Run() == nil })
}

// A copy of a disk is what a power cut leaves of it: what was never synced is
// not there. The copy is taken block by block while loads write on, so blocks
// that were written later than others may be there without them too. Each load
// that had ended well before the copy began must be in it.
func TestAPowerCutTakesNoAcknowledgedLoad(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	image, dir := disk(t)
	w := openWard(t, dir, 1)
	one, cuts := w.tenants[0], min(house.Scaled(3), len(w.tenants[0].Files.Reports)/2)
	r := rand.New(rand.NewPCG(house.Seed(t), 5))
	for cut := range cuts {
		paths := one.Take(2)
		before, after := one.Model.Clone(), one.Model.Clone()
		after.Load(paths...)
		states := []*model.Account{before}
		for _, some := range [][]string{paths[:2], paths[2:]} {
			m := before.Clone()
			m.Load(some...)
			states = append(states, m)
		}
		states = append(states, after)
		copied, ended := w.cutInALoad(t, r, image, paths)
		if ended {
			states = states[3:]
		}
		t.Logf("cut %d: the load had ended before it: %v", cut, ended)
		w.hasOneOf(t, copied, states)
		one.Model.Load(paths...)
	}
}

// cutInALoad copies the disk at some moment of a load, and reports whether the
// load had said before that all is loaded. The load itself goes on.
func (w *ward) cutInALoad(t *testing.T, r *rand.Rand, image string, paths []string) (copied string, ended bool) {
	t.Helper()
	one := w.tenants[0]
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	loader := w.Command(ctx, w.LoadArgs(one.Files.ID, paths...)...)
	var said bytes.Buffer
	loader.Stderr = &said
	house.Need(t, loader.Start())
	done := make(chan error, 1)
	go func() { done <- loader.Wait() }()
	var err error
	select {
	case err = <-done:
		ended = true
	case <-time.After(time.Duration(r.Int64N(int64(loadPatience)))):
	}
	copied = filepath.Join(t.TempDir(), "cut.img")
	house.Need(t, copyFile(copied, image))
	if !ended {
		err = <-done
	}
	if err != nil {
		t.Errorf("the load that was not cut: %v %s", err, said.String())
	}
	return copied, ended
}

// loadPatience is about how long a load takes that has its engine to start.
const loadPatience = 6 * time.Second

// copyFile copies what is on the disk, past what the system still has in
// memory of the file system inside: that would not survive a power cut.
func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// hasOneOf starts a server on a copy of the disk and demands the answers of one
// of the states.
func (w *ward) hasOneOf(t *testing.T, image string, states []*model.Account) {
	t.Helper()
	dir := attached(t, image)
	p, err := harness.New(dir)
	house.Need(t, err)
	server, err := p.Serve()
	house.Need(t, err)
	copied := &house.Siege{Program: p, Server: server, Asks: func(*model.Account) []house.Question { return house.Everything() },
		One: &house.Tenant{Files: w.tenants[0].Files, Model: nil, Ask: harness.Client{Address: server.Address, Key: w.tenants[0].Ask.Key}}}
	copied.ShowsOne(t, states)
	if a := house.Get(t, harness.Client{Address: server.Address}, "/readyz"); a.Status != 200 {
		t.Errorf("readiness on what a power cut left: %s", a)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}
