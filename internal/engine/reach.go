package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// endPatience is how long an engine that was killed may keep its lock: the kernel frees
// its memory first.
const endPatience = 5 * time.Second

// checkReach makes sure that a process, whose number engine.json has, is the engine of
// this directory and listens where this process can ask it. The file and the locks
// may be shared with another machine or container, where the number means another
// process, or with another network, where a healthy engine cannot be heard. The error is
// errGone if the engine has just ended, as one does that its watch kills.
func (h home) checkReach(ctx context.Context, pid int) error {
	dataDir := filepath.Dir(string(h))
	if isEngineOf(pid, dataDir) && sameFile("/proc/self/net/dev", fmt.Sprintf("/proc/%d/net/dev", pid)) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	if free, err := waitLock(ctx, h.engineLock(), unix.LOCK_SH); err == nil {
		return errors.Join(errGone, free.Close())
	}
	return fmt.Errorf("the engine of %s runs where this process cannot reach it, on another machine, in another container or in a network of its own, as process %d there: run the command where it runs, or end what uses it there", dataDir, pid)
}

// isEngineOf reports whether a process was started as the engine of a directory.
func isEngineOf(pid int, dataDir string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	words := bytes.Split(line, []byte{0})
	at := slices.IndexFunc(words, func(word []byte) bool { return string(word) == Command })
	return at >= 0 && at+1 < len(words) && sameFile(string(words[at+1]), dataDir)
}

// sameFile reports whether two paths lead to one file. The files of a network in /proc
// are the same for all processes in it, and may be looked at whatever rights those have.
func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}
