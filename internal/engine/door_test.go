package engine

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTheEngineIsLockedAgainstEverybodyElseOnTheMachine(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	e := open(t, dir)
	defer closed(t, e)
	at := endpoint(t, e)
	makeTable(t, at)
	t.Run("unheard", func(t *testing.T) { strangersAreNotHeard(t, at, dir) })
	t.Run("without the gate", func(t *testing.T) { nothingIsAnsweredWithoutTheGate(t, at) })
	t.Run("strangers", func(t *testing.T) { strangersAreRefused(t, at) })
	t.Run("reader", func(t *testing.T) { readerOnlyReads(t, at) })
	t.Run("files", func(t *testing.T) { filesArePrivate(t, dir) })
	t.Run("process", func(t *testing.T) { processShowsNoPassword(t, at) })
	t.Run("storm", func(t *testing.T) { stormIsSurvived(t, at) })
}

// nothingIsAnsweredWithoutTheGate asks for constants too: one of them is the
// scalar file(), which reads.
func nothingIsAnsweredWithoutTheGate(t *testing.T, at Endpoint) {
	closed, wrong := at, at
	closed.Gate, wrong.Gate = "", strings.ToLower(at.Gate)
	for _, door := range []Endpoint{closed, wrong} {
		for _, user := range [][2]string{{"", ""}, {"default", ""}, {ReaderUser, at.ReaderPassword}, {LoaderUser, at.LoaderPassword}} {
			for _, sql := range []string{"SELECT 1", "SELECT file('/etc/passwd')", "SELECT n FROM adlens.kept"} {
				if status, text := ask(t, door, user[0], user[1], sql); status == http.StatusOK {
					t.Errorf("user %q is answered: %s (%.40s)", user[0], sql, text)
				}
			}
		}
	}
	for _, page := range []string{"", "ping", "play", "dashboard", "replicas_status", "?query=SELECT+1", "metrics"} {
		res, err := http.Get("http://" + at.Address + "/" + page)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			t.Errorf("/%s is answered", page)
		}
	}
}

func strangersAreRefused(t *testing.T, at Endpoint) {
	for _, user := range [][2]string{{"", ""}, {"default", ""}, {"reader", ""}, {"loader", "x"}, {"nobody", "x"}} {
		for _, sql := range []string{
			"SELECT n FROM adlens.kept", "SELECT * FROM system.tables", "SELECT count() FROM system.users", "SHOW TABLES FROM adlens",
			"SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
			"INSERT INTO adlens.kept SELECT 1", "DROP TABLE adlens.kept", "SYSTEM SHUTDOWN", "SYSTEM START LISTEN TCP",
			"SET max_memory_usage = 0", "CREATE TEMPORARY TABLE x (n UInt8)", "SELECT count() FROM numbers(1000)", "SELECT sum(number) FROM numbers(10000000000)",
			"SELECT sleepEachRow(1) FROM numbers(3)", "SELECT n FROM generateRandom('n UInt8') LIMIT 1",
		} {
			if status, text := ask(t, at, user[0], user[1], sql); status == http.StatusOK {
				t.Errorf("user %q may: %s (%s)", user[0], sql, text)
			}
		}
	}
}

// The scalar function file() is refused to no user by ClickHouse's own grants:
// the gate is what keeps a stranger's question from being read at all.
func strangersAreNotHeard(t *testing.T, at Endpoint, dir string) {
	for _, gate := range []string{"", "x", at.Gate[1:], at.Gate + "A"} {
		for _, user := range [][2]string{{"", ""}, {"default", ""}, {ReaderUser, at.ReaderPassword}} {
			for _, sql := range []string{"SELECT 1", "SELECT file('/etc/passwd')", "SELECT file('" + dir + "/engine/engine.json')", "SELECT sleep(3)"} {
				if status, text := askBy(t, at, gate, user[0], user[1], sql); status == http.StatusOK {
					t.Errorf("without the gate's value, user %q may: %s (%s)", user[0], sql, text)
				}
			}
		}
	}
	for _, path := range []string{"/", "/ping", "/play", "/dashboard", "/replicas_status", "/metrics", "/js/uplot.js"} {
		res, err := http.Get("http://" + at.Address + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			t.Errorf("%s is answered to anybody", path)
		}
	}
}

// readerOnlyReads leaves out the scalar file(), which this build grants to
// every user; the gate is what keeps strangers from it.
func readerOnlyReads(t *testing.T, at Endpoint) {
	if status, text := ask(t, at, ReaderUser, at.ReaderPassword, "SELECT n FROM adlens.kept"); status != http.StatusOK || text != "42" {
		t.Errorf("the reader cannot read: %s", text)
	}
	for _, sql := range []string{
		"SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
		"SELECT * FROM executable('id', 'TSV', 'x String')", "SELECT 1 INTO OUTFILE '/tmp/adlens-leak'",
		"INSERT INTO adlens.kept SELECT 1", "ALTER TABLE adlens.kept DELETE WHERE 1", "DROP TABLE adlens.kept", "TRUNCATE TABLE adlens.kept",
		"CREATE TABLE adlens.more (n UInt8) ENGINE = MergeTree ORDER BY n", "SET readonly = 0", "SELECT 1 SETTINGS readonly = 0",
		"KILL QUERY WHERE 1", "SYSTEM SHUTDOWN", "GRANT ALL ON *.* TO reader",
	} {
		if status, text := ask(t, at, ReaderUser, at.ReaderPassword, sql); status == http.StatusOK {
			t.Errorf("the reader may: %s (%s)", sql, text)
		}
	}
	for _, sql := range []string{"SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM executable('id', 'TSV', 'x String')", "CREATE DATABASE other"} {
		if status, text := ask(t, at, LoaderUser, at.LoaderPassword, sql); status == http.StatusOK {
			t.Errorf("the loader may: %s (%s)", sql, text)
		}
	}
}

// filesArePrivate looks for files and directories that others could open: one
// closed directory above them is not enough when a user copies the data.
func filesArePrivate(t *testing.T, dir string) {
	err := filepath.WalkDir(filepath.Join(dir, "engine"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && entry.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

func processShowsNoPassword(t *testing.T, at Endpoint) {
	for _, name := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", at.PID, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, password := range []string{at.ReaderPassword, at.LoaderPassword, at.Gate} {
			if strings.Contains(string(text), password) {
				t.Errorf("a password stands in /proc/%d/%s", at.PID, name)
			}
		}
	}
}

// stormIsSurvived sends what made this version of ClickHouse abort some
// seconds later. The wait is the point: it did not abort at once.
func stormIsSurvived(t *testing.T, at Endpoint) {
	for i := range 40 {
		if status, _ := ask(t, at, ReaderUser, "wrong", "SELECT 1"); status == http.StatusOK {
			t.Fatal("a wrong password is taken")
		}
		c, err := net.Dial("tcp", at.Address)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 0:
			c.Write([]byte("\n"))
		case 1:
			c.Write([]byte("\x00\xff\x01garbage\r\n\r\n"))
		case 2:
			c.SetDeadline(time.Now().Add(200 * time.Millisecond))
			tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
		case 3:
			fmt.Fprintf(c, "POST /?query=SELECT HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
		}
		c.Close()
	}
	time.Sleep(6 * time.Second)
	if !alive(at.PID) || zombie(at.PID) {
		t.Fatal("the engine died of garbage")
	}
	if status, text := ask(t, at, ReaderUser, at.ReaderPassword, "SELECT n FROM adlens.kept"); status != http.StatusOK || text != "42" {
		t.Errorf("the engine is alive and does not answer: %d %s", status, text)
	}
}

// A port that is let go between its choice and the engine's listener can be got
// by another server, which was taken for the engine by its client.
func TestNobodyElseGetsTheEnginesPort(t *testing.T) {
	t.Parallel()
	address, reserved, err := reserveAddress()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(reserved)
	if other, err := net.Listen("tcp4", address); err == nil {
		other.Close()
		t.Errorf("another server listens at %s while it is reserved", address)
	}
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
				t.Error(err)
			}
		})
	}}
	engine, err := shared.Listen(t.Context(), "tcp4", address)
	if err != nil {
		t.Fatalf("the engine itself cannot listen at %s: %v", address, err)
	}
	defer engine.Close()
	accepted := make(chan error, 1)
	go func() {
		c, err := engine.Accept()
		if err == nil {
			err = c.Close()
		}
		accepted <- err
	}()
	c, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatalf("the socket that reserves %s gets what is the listener's: %v", address, err)
	}
	c.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}
