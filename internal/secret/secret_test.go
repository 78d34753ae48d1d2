package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWhatIsSealedOpensWithItsKeyAndPurposeAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := must(ReadOrMakeKey(filepath.Join(dir, "key")))
	sealed := key.Seal([]byte("refresh token"), "acme")
	if strings.Contains(sealed, "refresh") || sealed == key.Seal([]byte("refresh token"), "acme") {
		t.Error("sealing shows its text, or gives the same twice")
	}
	if text, err := must(ReadOrMakeKey(filepath.Join(dir, "key"))).Open(sealed, "acme"); err != nil || string(text) != "refresh token" {
		t.Errorf("opened %q, %v", text, err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another purpose": func() ([]byte, error) { return key.Open(sealed, "other") },
		"another key":     func() ([]byte, error) { return must(ReadOrMakeKey(filepath.Join(dir, "other"))).Open(sealed, "acme") },
		"a damaged text":  func() ([]byte, error) { return key.Open("A"+sealed[1:len(sealed)-4]+"AAA=", "acme") },
		"no base64":       func() ([]byte, error) { return key.Open("%%%", "acme") },
		"nothing":         func() ([]byte, error) { return key.Open("", "acme") },
	} {
		if text, err := open(); !errors.Is(err, ErrSealed) {
			t.Errorf("%s opens it: %q, %v", name, text, err)
		}
	}
}

func TestAKeyFileIsTheOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "below", "key")
	must(ReadOrMakeKey(path))
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOrMakeKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read is taken: %v", err)
	}
	if err := os.WriteFile(path+"2", []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOrMakeKey(path + "2"); err == nil {
		t.Error("a file without a key is taken")
	}
}

// A secret of Kubernetes is root's, and is read by the group of the pod.
func TestAMountedKeyIsReadByTheProgramsOwnGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		owner, group, user, own int
		given                   bool
	}{{0, 65532, 65532, 65532, true}, {0, 65532, 1000, 1000, false}, {1000, 65532, 65532, 65532, false}, {0, 0, 65532, 0, false}, {0, 0, 0, 0, false}} {
		if given := isGiven(c.owner, c.group, c.user, c.own); given != c.given {
			t.Errorf("%+v: %t", c, given)
		}
	}
}

func TestProcessesThatMakeTheKeyAtOnceShareIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	sealed := make([]string, 8)
	var all sync.WaitGroup
	for i := range sealed {
		all.Go(func() { sealed[i] = must(ReadOrMakeKey(path)).Seal([]byte("x"), "") })
	}
	all.Wait()
	key := must(ReadOrMakeKey(path))
	for _, s := range sealed {
		if _, err := key.Open(s, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestAKeyDoesNotPrintItself(t *testing.T) {
	t.Parallel()
	key := must(ReadOrMakeKey(filepath.Join(t.TempDir(), "key")))
	for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
		if text := fmt.Sprintf(verb, key); text != "secret key" {
			t.Errorf("%s prints %q", verb, text)
		}
	}
}

func TestAMissingKeyIsNotMadeByReading(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing key: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the key was made")
	}
}

func must(k Key, err error) Key {
	if err != nil {
		panic(err)
	}
	return k
}
