//go:build linux

package engine

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// fullDisk gives a data directory whose tables are on a small disk of their own,
// and how to fill it but for some bytes.
func fullDisk(t *testing.T) (dir string, fill func(left int64) (free func())) {
	t.Helper()
	dir = dataDir(t)
	store := homeOf(dir).storeDir()
	if err := os.MkdirAll(store, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", store, "tmpfs", 0, fmt.Sprintf("size=%d", 128<<20)); err != nil {
		t.Skipf("a disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(store, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(left int64) func() {
		ballast, err := os.Create(filepath.Join(store, "ballast"))
		if err != nil {
			t.Fatal(err)
		}
		defer ballast.Close()
		var disk unix.Statfs_t
		if err := unix.Statfs(store, &disk); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fallocate(int(ballast.Fd()), 0, 0, int64(disk.Bavail)*disk.Bsize-left); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Remove(ballast.Name()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The engine reserves a MiB or what it believes to need, and no disk keeps that
// for it: a part of many small files does not fit where the reservation did.
const justReserved = 1<<20 + 1<<18

// makeManyFiles makes a table whose parts have 800 files, and a row in it.
func makeManyFiles(t *testing.T, at Endpoint) {
	t.Helper()
	var columns []string
	for i := range 400 {
		columns = append(columns, fmt.Sprintf("c%d UInt8 DEFAULT 1", i))
	}
	must(t, at, "CREATE DATABASE adlens")
	must(t, at, "CREATE TABLE adlens.many (n UInt32, "+strings.Join(columns, ", ")+`) ENGINE = MergeTree ORDER BY n
		SETTINGS min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0, max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1`)
	must(t, at, "INSERT INTO adlens.many (n) VALUES (1)")
}

// fails demands that a statement fails for want of space.
func fails(t *testing.T, at Endpoint, sql string) {
	t.Helper()
	status, text := ask(t, at, LoaderUser, at.LoaderPassword, sql)
	if status == http.StatusOK || !strings.Contains(text, "No space left on device") && !strings.Contains(text, "NOT_ENOUGH_SPACE") {
		t.Errorf("%s, on a full disk: status %d, %.300s", sql, status, text)
	}
}

// holds reads every column of every row.
func holds(t *testing.T, at Endpoint, want string) {
	t.Helper()
	if got := must(t, at, "SELECT groupArray(n) FROM (SELECT * FROM adlens.many WHERE NOT ignore(*) ORDER BY n)"); got != want {
		t.Errorf("the table has %s, expected %s", got, want)
	}
}

func TestWhatDoesNotFitOnTheDiskFailsItsStatement(t *testing.T) {
	dir, fill := fullDisk(t)
	e := open(t, dir)
	defer func() { closed(t, e) }()
	at := endpoint(t, e)
	makeManyFiles(t, at)

	free := fill(justReserved)
	fails(t, at, "INSERT INTO adlens.many (n) VALUES (2)")
	holds(t, at, "[1]")
	free()
	must(t, at, "INSERT INTO adlens.many (n) VALUES (3)")
	free = fill(justReserved)
	fails(t, at, "OPTIMIZE TABLE adlens.many FINAL")
	holds(t, at, "[1,3]")
	free()
	free = fill(justReserved)
	fails(t, at, "ALTER TABLE adlens.many DELETE WHERE n = 1 SETTINGS mutations_sync = 1")
	holds(t, at, "[1,3]")
	free()
	until := time.Now().Add(time.Minute)
	for must(t, at, "SELECT count() FROM system.mutations WHERE NOT is_done") != "0" {
		if time.Now().After(until) {
			t.Fatal("with space again, the mutation does not go on")
		}
		time.Sleep(50 * time.Millisecond)
	}
	must(t, at, "OPTIMIZE TABLE adlens.many FINAL")
	holds(t, at, "[3]")

	if err := e.killFrozen(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	at = endpoint(t, e)
	holds(t, at, "[3]")
	if parts := must(t, at, "SELECT name, reason FROM system.detached_parts"); parts != "" {
		t.Errorf("the engine found damaged parts: %s", parts)
	}
}

// checked calls a function of writes_amd64.s as the library does.
func checked(function uintptr, args ...uintptr) (n int, err error) {
	runtime.LockOSThread() // errno is the thread's
	defer runtime.UnlockOSThread()
	result, _, _ := purego.SyscallN(function, args...)
	if n = int(int32(result)); n >= 0 {
		return n, nil
	}
	errno, _, _ := purego.SyscallN(libcErrno)
	return n, unix.Errno(**(**int32)(unsafe.Pointer(&errno)))
}

func openChecked(t *testing.T, path string, mode int) (fd uintptr) {
	t.Helper()
	name := append([]byte(path), 0)
	n, err := checked(checkedOpenAddress, uintptr(unsafe.Pointer(&name[0])), uintptr(mode|unix.O_CREAT), 0o600)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(func() { unix.Close(n) })
	return uintptr(n)
}

func writeChecked(fd uintptr, text []byte) (int, error) {
	return checked(checkedWriteAddress, fd, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
}

// findLibc does in this process what checkWrites does in the engine's.
func findLibc(t *testing.T) {
	t.Helper()
	for name, function := range map[string]*uintptr{"open": &libcOpen, "write": &libcWrite, "fdatasync": &libcSync, "__errno_location": &libcErrno} {
		var err error
		if *function, err = purego.Dlsym(purego.RTLD_DEFAULT, name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFileThatLacksBytesCannotBeSynced(t *testing.T) {
	findLibc(t)
	dir, text := t.TempDir(), []byte("bytes")
	syncs := func(fd uintptr, want error) {
		t.Helper()
		if _, err := checked(checkedSyncAddress, fd); !errors.Is(err, want) {
			t.Errorf("sync returns %v, expected %v", err, want)
		}
	}
	before := openChecked(t, filepath.Join(dir, "before"), unix.O_WRONLY)
	if n, err := writeChecked(before, text); n != len(text) || err != nil {
		t.Errorf("write returns %d, %v", n, err)
	}
	syncs(before, nil)
	if n, err := writeChecked(openChecked(t, filepath.Join(dir, "before"), unix.O_RDONLY), text); n != -1 || err != unix.EBADF {
		t.Errorf("write returns %d, %v", n, err)
	}
	syncs(before, nil) // that was no error of the disk
	for path, want := range map[string]error{"/dev/full": unix.ENOSPC, "/proc/self/mem": unix.EIO} {
		before = openChecked(t, filepath.Join(dir, "before"), unix.O_WRONLY)
		broken := openChecked(t, path, unix.O_RDWR)
		if n, err := writeChecked(broken, text); n != -1 || err != want {
			t.Errorf("%s: write returns %d, %v", path, n, err)
		}
		syncs(before, want)
		syncs(openChecked(t, filepath.Join(dir, "after"), unix.O_WRONLY), nil)
	}
}

// What is left of a file that is never synced must not be taken for all of it.
func TestAFileThatLacksBytesIsNoData(t *testing.T) {
	findLibc(t)
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=8k"); err != nil {
		t.Skipf("a disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path, text := filepath.Join(dir, "file"), []byte(strings.Repeat("x", 4096))
	fd := openChecked(t, path, unix.O_WRONLY)
	written := 0
	for range 4 {
		if n, err := writeChecked(fd, text); err == nil {
			written += n
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if written == 0 || written > 8192 || len(content) < written+65536 || strings.Trim(string(content[written:]), "\x00") != "" {
		t.Errorf("of four writes to a full disk, %d bytes fitted; the file has %d", written, len(content))
	}
}
