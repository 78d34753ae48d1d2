package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAnotherUsersDataIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "engine")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, 54321, 54321); errors.Is(err, fs.ErrPermission) {
		t.Skip("only root can give a folder away")
	} else if err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "belongs to user 54321") || !strings.Contains(err.Error(), "sudo -u '#54321'") {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind, %v", left, err)
	}
}

// An engine takes a part for broken that it may not read.
func TestStoredFilesThatMayNotBeReadKeepAnEngineFromStarting(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user for a moment")
	}
	dir := t.TempDir()
	h := homeOf(dir)
	for of := dir; of != filepath.Clean(os.TempDir()) && of != filepath.Dir(of); of = filepath.Dir(of) {
		if err := os.Chmod(of, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	part := filepath.Join(h.storeDir(), "all_1_1_0")
	if err := os.MkdirAll(part, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(part, "data.bin")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	asOther := func() (err error) {
		done := make(chan bool)
		go func() { // whose thread ends with it
			defer close(done)
			runtime.LockOSThread()
			if _, _, failed := unix.RawSyscall(unix.SYS_SETREUID, 54321, ^uintptr(0), 0); failed != 0 {
				err = failed
				return
			}
			err = h.checkStored()
		}()
		<-done
		return err
	}
	if err := asOther(); err != nil {
		t.Errorf("files that may be read: %v", err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := asOther(); err == nil || !strings.Contains(err.Error(), file+" belongs to user root") || !strings.Contains(err.Error(), "chown -R") {
		t.Errorf("a file that may not be read: %v", err)
	}
	if err := homeOf(t.TempDir()).checkStored(); err != nil {
		t.Errorf("nothing is stored yet: %v", err)
	}
}
