package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAPlatformWithoutAnEngineNamesWhatItNeeds(t *testing.T) {
	for _, c := range []struct{ system, processor, want string }{
		{"linux", "amd64", "fetch it with: make engine"},
		{"linux", "arm64", "--clickhouse or ADLENS_CLICKHOUSE, like clickhouse://user:password@host:9000/adlens: there is no engine for linux-arm64"},
		{"darwin", "arm64", "there is no engine for darwin-arm64"},
	} {
		if got := remedy(c.system, c.processor); !strings.Contains(got, c.want) {
			t.Errorf("%s-%s: %q", c.system, c.processor, got)
		}
	}
}

// The version that is shown is that which npm fetches.
func TestTheVersionOfTheLibraryIsThePinnedOne(t *testing.T) {
	lock, err := os.ReadFile("../../package-lock.json")
	if err != nil || !strings.Contains(string(lock), `"version": "`+libraryVersion+`"`) {
		t.Errorf("package-lock.json does not pin %s: %v", libraryVersion, err)
	}
}

func TestAMissingOrWrongLibraryIsNamedWithItsRemedy(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.so")
	if err := os.WriteFile(small, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	// Of the right size and nothing else: only the hash can tell.
	sized := filepath.Join(dir, "sized.so")
	if err := os.WriteFile(sized, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sized, libraryBytes); err != nil {
		t.Fatal(err)
	}
	for path, problem := range map[string]string{
		filepath.Join(dir, "none.so"): "cannot be read",
		small:                         "has 10 bytes",
		sized:                         "SHA-256",
	} {
		t.Setenv(libraryVariable, path)
		data := t.TempDir()
		e, err := Open(t.Context(), data)
		if err == nil {
			e.Close()
			t.Errorf("%s is taken for the library", path)
			continue
		}
		var wrong *LibraryError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v is no *LibraryError", path, err)
		}
		for _, part := range []string{problem, path, "make engine"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
		if running, err := isHeld(homeOf(data).engineLock()); running || err != nil {
			t.Errorf("something was started with %s: %v", path, err)
		}
		if alone, err := tryLock(homeOf(data).usersLock(), unix.LOCK_EX); err != nil {
			t.Errorf("a process that did not get an engine with %s is still one of its users: %v", path, err)
		} else {
			alone.Close()
		}
	}
}

// A library that took the place of one that was checked is checked too.
func TestALibraryIsCheckedWhereTheNoteIsOfAnother(t *testing.T) {
	dir := t.TempDir()
	path, note := filepath.Join(dir, libraryName), filepath.Join(dir, "library.checked")
	if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", path + " 566330096 0 " + LibrarySHA256 + "\n"} {
		if err := os.WriteFile(note, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkLibrary(path, note); err == nil {
			t.Errorf("with the note %q it is taken for the library", text)
		}
	}
}
