package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// Command is the hidden command of the binary that becomes the engine.
const Command = "engine-process"

// The library wants the main thread, which only init functions are sure to run
// on.
func init() {
	if isEngineProcess() {
		runtime.LockOSThread()
	}
}

func isEngineProcess() bool { return len(os.Args) == 4 && os.Args[1] == Command }

// RunIfAsked becomes the engine where this process was started to be it, and
// never returns then. Every binary that opens an engine calls it first, with its
// own version: after an upgrade an engine may be of another one than its users.
func RunIfAsked(version string) {
	if isEngineProcess() {
		os.Exit(runEngine(os.Args[2], os.Args[3], version))
	}
}

// Where the starter leaves the master side of the terminal, and the lock by
// which the engine owns its directory.
const (
	masterFD = 3
	ownFD    = 4
)

// runEngine is the engine's own process: it takes the directory, opens the
// listener and stays until no user of the directory is left. It returns the
// exit code.
//
// The library must run on the main thread with a terminal as standard input:
// without one, this version of ClickHouse aborts some seconds after a
// listener's handler has thrown, for which one wrong password is enough. The
// process holds the terminal's master side itself, so that its life hangs on
// no other process's.
func runEngine(dataDir, library, version string) int {
	unix.Umask(0o077)
	err := runProcess(homeOf(dataDir), library, version)
	if err != nil {
		fmt.Fprintln(os.Stderr, "adlens engine:", err)
		return 1
	}
	return 0
}

func runProcess(h home, library, version string) error {
	// The directory is this process's own for as long as it lives: the lock came
	// with it, and goes with it. Nothing that it may start must keep it.
	if _, err := unix.FcntlInt(ownFD, unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return fmt.Errorf("the lock of %s did not come along: %w", h, err)
	}
	address, reserved, err := reserveAddress()
	if err != nil {
		return fmt.Errorf("no port of 127.0.0.1 is free: %w", err)
	}
	defer unix.Close(reserved)
	e := Endpoint{PID: os.Getpid(), Address: address, ReaderPassword: newPassword(), LoaderPassword: newPassword(), Gate: newPassword(), Version: version}
	if err := h.writeConfig(e); err != nil {
		return err
	}
	if err := h.writeEndpoint(e); err != nil {
		return err
	}
	terminal := os.NewFile(masterFD, "terminal")
	go io.Copy(io.Discard, terminal)
	go h.leaveWithTheLastUser(terminal)
	return h.runLibrary(library, address)
}

// reserveAddress takes a free port of the loopback interface and keeps it as
// long as the socket is open. The socket never listens: it shares its port with
// the engine's listener alone, and only sockets of the same user may share.
// Without it any process could get the port while the engine starts, and be
// taken for the engine.
func reserveAddress() (address string, socket int, err error) {
	socket, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", 0, err
	}
	unix.CloseOnExec(socket)
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return "", 0, errors.Join(err, unix.Close(socket))
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return "", 0, errors.Join(err, unix.Close(socket))
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*unix.SockaddrInet4).Port), socket, nil
}

// leaveWithTheLastUser ends the session, as a person at the terminal would,
// once users.lock is no longer shared. It keeps the lock from then on, so
// that a process that comes now waits for the end and starts a new engine.
func (h home) leaveWithTheLastUser(terminal *os.File) {
	users, err := h.waitForTheLastUser()
	if err != nil {
		fmt.Fprintln(os.Stderr, "adlens engine:", err)
	}
	// A session that is still on its way to its first prompt throws away what was
	// typed before, so it is told again. One that does not end at all has nothing
	// left to lose: what was acknowledged is on the disk.
	for range 40 {
		terminal.WriteString("exit\n")
		time.Sleep(250 * time.Millisecond)
	}
	unix.Kill(os.Getpid(), unix.SIGKILL)
	runtime.KeepAlive(users)
}

// waitForTheLastUser returns users.lock, held alone, as soon as it is not shared,
// or nothing when the data directory was removed and no user can come any more.
// The kernel wakes it: an idle engine costs next to nothing.
func (h home) waitForTheLastUser() (alone *os.File, err error) {
	file, err := os.OpenFile(h.usersLock(), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked := make(chan error, 1)
	go func() {
		err := error(unix.EINTR)
		for err == unix.EINTR {
			err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		}
		locked <- err
	}()
	for {
		select {
		case err := <-locked:
			return file, err
		case <-time.After(time.Second):
			if _, err := os.Stat(h.usersLock()); errors.Is(err, fs.ErrNotExist) {
				return nil, nil
			}
		}
	}
}

// runLibrary becomes clickhouse-local until the session ends.
func (h home) runLibrary(library, address string) error {
	_, port, _ := strings.Cut(address, ":")
	return Become(library,
		"--path="+h.storeDir(), "--config-file="+h.configFile(),
		"--interactive", "--disable_suggestion", "--query", "SYSTEM START LISTEN HTTP",
		"--listen_host=127.0.0.1", "--http_port="+port,
		"--history_file="+filepath.Join(string(h), "history"),
	)
}

// Become runs the library's own main, clickhouse-local, until its session
// ends. It wants the process's main thread, and a terminal as standard input.
// Errors of the start are only in the result object: the library says 0 all the
// same.
func Become(library string, args ...string) error {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return explainLoad(library, err)
	}
	if err := checkWrites(library, handle); err != nil {
		return fmt.Errorf("failed writes of %s would go unnoticed: %w", library, err)
	}
	var run func(argc int32, argv **byte) uintptr
	var failure func(result uintptr) string
	purego.RegisterLibFunc(&run, handle, "chdb_query_cmdline")
	purego.RegisterLibFunc(&failure, handle, "chdb_result_error")

	words := append(arguments{"clickhouse-local"}, args...)
	if result := run(int32(len(words)), words.argumentVector()); result != 0 {
		if text := failure(result); text != "" {
			return errors.New(strconv.Quote(text))
		}
	}
	return nil
}

// arguments is a C argument vector.
type arguments []string

func (a arguments) argumentVector() **byte {
	vector := make([]*byte, len(a)+1)
	for i, text := range a {
		bytes := append([]byte(text), 0)
		vector[i] = &bytes[0]
	}
	return (**byte)(unsafe.Pointer(&vector[0]))
}
