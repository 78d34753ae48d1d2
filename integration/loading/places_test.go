package loading_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adlens/integration/house"
)

// place is something else than a plain file where an extract is looked for.
type place struct {
	name  string
	make  func(t *testing.T, dir, outside string)
	file  string // that is spoken of, below dir
	state string
	says  string
}

func places() []place {
	link := func(to func(outside string) string, file string) func(*testing.T, string, string) {
		return func(t *testing.T, dir, outside string) {
			house.Need(t, os.Symlink(to(outside), filepath.Join(dir, file)))
		}
	}
	at := func(path string) func(string) string { return func(string) string { return path } }
	beyond := func(name string) func(string) string {
		return func(outside string) string { return filepath.Join(outside, name) }
	}
	return []place{
		{"a link to a secret of the machine", link(at("/etc/passwd"), "products.csv"), "products.csv", "refused", "escapes"},
		{"a link out of the folder", link(beyond("products.csv"), "products.csv"), "products.csv", "refused", "escapes"},
		{"a link to nothing", link(at("none.csv"), "products.csv"), "products.csv", "refused", "no such file"},
		{"a link to itself", link(at("products.csv"), "products.csv"), "products.csv", "refused", "too many"},
		{"a link to a device without end", link(at("/dev/zero"), "products.csv"), "products.csv", "refused", "escapes"},
		{"a link to the process's own memory", link(at("/proc/self/environ"), "products.csv"), "products.csv", "refused", "escapes"},
		{"a link to a folder outside", link(beyond(""), "more"), "more", "skipped", "a link to a folder"},
		{"a link inside the folder", func(t *testing.T, dir, _ string) {
			house.Put(t, filepath.Join(dir, "titles"), "kept.txt", []byte("product_id,title\nB000,Linked\n"))
			house.Need(t, os.Symlink("titles/kept.txt", filepath.Join(dir, "products.csv")))
		}, "products.csv", "loaded", ""},
		{"a pipe without a writer", func(t *testing.T, dir, _ string) {
			house.Need(t, syscall.Mkfifo(filepath.Join(dir, "products.csv"), 0o600))
		}, "products.csv", "refused", "no regular file"},
		{"a pipe for a download", func(t *testing.T, dir, _ string) {
			p := house.SpPair("pipe", "101", house.DaysAgo(5), 1, time.Now())
			p.RowsName = ""
			p.Write(t, dir)
			house.Need(t, syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600))
		}, "pipe.report.json", "refused", "no regular file"},
		{"a socket", func(t *testing.T, dir, _ string) {
			// By its number: a path of a test's folder is too long for a socket.
			s, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			house.Need(t, err)
			t.Cleanup(func() { _ = syscall.Close(s) })
			short, err := os.MkdirTemp("", "s")
			house.Need(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(short) })
			house.Need(t, syscall.Bind(s, &syscall.SockaddrUnix{Name: filepath.Join(short, "s")}))
			house.Need(t, os.Rename(filepath.Join(short, "s"), filepath.Join(dir, "products.csv")))
		}, "products.csv", "refused", ""},
		{"a folder with a file's name", func(t *testing.T, dir, _ string) {
			house.Need(t, os.Mkdir(filepath.Join(dir, "products.csv"), 0o700))
		}, "", "", ""},
		{"a name with a line break and a colour", func(t *testing.T, dir, _ string) {
			house.Put(t, dir, "a\n\x1b[31mrefused: all.csv", []byte("x"))
		}, "a\n\x1b[31mrefused: all.csv", "skipped", ""},
		{"a name like a flag", func(t *testing.T, dir, _ string) { house.Put(t, dir, "-rf", []byte("x")) }, "-rf", "skipped", ""},
		{"a name of 255 bytes", func(t *testing.T, dir, _ string) {
			house.Put(t, dir, strings.Repeat("x", 250)+".json", []byte("x"))
		}, strings.Repeat("x", 250) + ".json", "refused", "without its report"},
		{"a zip archive", func(t *testing.T, dir, _ string) {
			house.Put(t, dir, "products.csv", []byte("PK\x03\x04\x14\x00../../evil.csv"))
		}, "products.csv", "refused", "product_id,title"},
	}
}

func TestOnlyPlainFilesInsideTheFolderAreRead(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	outside := t.TempDir()
	house.Put(t, outside, "products.csv", []byte("product_id,title\nB000,From outside\n"))
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			p.make(t, dir, outside)
			began := time.Now()
			done, err := h.Load(one.Files.ID, dir)
			house.Need(t, err)
			if time.Since(began) > 30*time.Second {
				t.Errorf("it took %v", time.Since(began))
			}
			if p.file == "" {
				return
			}
			found := false
			for _, f := range done.Files {
				found = found || f.File == filepath.Join(dir, p.file) && f.Status == p.state && strings.Contains(f.Error+f.Notice, p.says)
			}
			if !found {
				t.Errorf("want %s %s with %q, got %s", p.file, p.state, p.says, done.Result)
			}
			if strings.Contains(done.Stdout+done.Stderr, "root:") {
				t.Errorf("what the link leads to is shown: %s", done.Result)
			}
		})
	}
	a := house.Get(t, one.Ask, "/api/v1/reports/products?range=last_90_days&page_size=all")
	if strings.Contains(string(a.Body), "From outside") || !strings.Contains(string(a.Body), "Linked") {
		t.Errorf("titles: %.600s", a.Body)
	}
}

func TestALinkThatIsNamedIsNotFollowedOutOfItsFolder(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	outside, dir := t.TempDir(), t.TempDir()
	house.Put(t, outside, "products.csv", []byte("product_id,title\nB000,From outside\n"))
	link := filepath.Join(dir, "products.csv")
	house.Need(t, os.Symlink(filepath.Join(outside, "products.csv"), link))
	done, err := h.Load(one.Files.ID, link)
	house.Need(t, err)
	if done.Code == 0 || len(done.Files) != 1 || done.Files[0].Status != "refused" {
		t.Errorf("a link that was named: %s", done.Result)
	}
	// A folder of another name is the user's own choice.
	house.Need(t, os.Symlink(outside, filepath.Join(dir, "folder")))
	if done, err := h.Load(one.Files.ID, filepath.Join(dir, "folder")); err != nil || done.Code != 0 {
		t.Errorf("a link to a folder that was named: %v %s", err, done.Result)
	}
}

func TestNoFileSpeaksToTheTerminal(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	p := house.SpPair("escape\x1b[31m", "101", house.DaysAgo(5), 1, time.Now())
	p.Object["status"], p.Object["reportId"], p.Object["startDate"] = "\x1b[2J\x1b[31mCOMPLETED", "\x1b]0;title\a", "\u009b31m"
	p.Write(t, dir)
	house.Put(t, dir, "\x1b[31m.txt", nil)
	house.Put(t, dir, "products.csv", []byte("product_id,\x1b[31mtitle\n"))
	r := h.Run("load", "--account", one.Files.ID, dir)
	if r.Code == 0 || strings.ContainsAny(r.Stdout+r.Stderr, "\x1b\a\u009b") {
		t.Errorf("want refusals without control characters, got %q", r.String())
	}
}

// Files that are named one by one take no more of what a process may have open than
// their folder does.
func TestManyFilesOfAFolderAreNamed(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	id := house.AccountID(t)
	h.Client(t, id)
	dir := t.TempDir()
	args := []string{"load", "--account", id}
	for i := range 400 {
		args = append(args, house.Put(t, dir, fmt.Sprintf("%d.csv", i), []byte("a,b\n1,2\n")))
	}
	command := h.Command(t.Context(), args...)
	command.Args = append([]string{"sh", "-c", `ulimit -n 200 && exec "$@"`, "sh"}, command.Args...)
	command.Path = "/bin/sh"
	out, err := command.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("no report of the advertising console")) != 400 {
		t.Errorf("%v: %.1000s", err, out)
	}
}
