package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// The ClickHouse library, as the npm package that package-lock.json pins
// ships it. The hash is of the file itself, so that a library that came by
// another way is checked as well.
const (
	libraryName    = "libchdb.so"
	libraryBytes   = 566330096
	libraryVersion = "26.7.3-stable.1"
)

// LibrarySHA256 is the hash of the pinned library, in hexadecimal.
const LibrarySHA256 = "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5"

// libraryVariable names the environment variable that says where the library
// is, for installations that keep it elsewhere.
const libraryVariable = "ADLENS_ENGINE_LIBRARY"

// LibraryVersion is the version of the library that is pinned, or "" where none is
// for this platform.
func LibraryVersion() string {
	if !isPinned(runtime.GOOS, runtime.GOARCH) {
		return ""
	}
	return libraryVersion
}

// LibraryError says what is wrong with the engine's library, and the one
// command that mends it.
type LibraryError struct{ Problem string }

func (e *LibraryError) Error() string { return e.Problem + "; " + e.Remedy() }

// Remedy says how this platform gets the right library.
func (e *LibraryError) Remedy() string { return remedy(runtime.GOOS, runtime.GOARCH) }

// remedy says how a platform gets an engine.
func remedy(system, processor string) string {
	switch {
	case !isPinned(system, processor):
		return "give a ClickHouse server with --clickhouse or ADLENS_CLICKHOUSE, like clickhouse://user:password@host:9000/adlens: there is no engine for " + system + "-" + processor
	case os.Getenv(libraryVariable) != "":
		return "unset " + libraryVariable + ", and fetch the right one with: " + fetchLibrary
	}
	return "fetch it with: " + fetchLibrary
}

const fetchLibrary = "make engine (in a release: unpack " + libraryName + " from its archive again, next to adlens)"

// packageDirectory is where npm puts the library below an installation.
var packageDirectory = filepath.Join("node_modules", "@chdb", "lib-linux-x64-gnu")

// findLibrary looks for the engine's library: where ADLENS_ENGINE_LIBRARY
// says, else beside the executable, else in the npm package of the folder of
// the executable or of the working directory, or of one above them.
func findLibrary() (string, error) {
	if path := os.Getenv(libraryVariable); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", &LibraryError{fmt.Sprintf("%s names %s, which cannot be read", libraryVariable, path)}
		}
		return path, nil
	}
	var starts []string
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, start := range starts {
		if path, ok := findAbove(start); ok {
			return path, nil
		}
	}
	return "", &LibraryError{"the ClickHouse library is not installed (looked for " + libraryName + " next to adlens and in " + packageDirectory + ")"}
}

func findAbove(dir string) (string, bool) {
	if path := filepath.Join(dir, libraryName); isFile(path) {
		return path, true
	}
	for {
		if path := filepath.Join(dir, packageDirectory, libraryName); isFile(path) {
			return path, true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", false
		}
		dir = above
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// checkLibrary compares the library with the pinned hash. Hashing half a
// gigabyte takes a second, so a library that was found right is remembered by
// its size, place and time of change in a note inside the data directory.
func checkLibrary(path, note string) error {
	info, err := os.Stat(path)
	if err != nil {
		return &LibraryError{fmt.Sprintf("the ClickHouse library cannot be read: %v", err)}
	}
	seen := fmt.Sprintf("%s %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), LibrarySHA256)
	if text, err := os.ReadFile(note); err == nil && string(text) == seen {
		return nil
	}
	if err := checkFile(path, info.Size()); err != nil {
		return err
	}
	return os.WriteFile(note, []byte(seen), 0o600)
}

// VerifyLibrary looks for the engine's library and compares all of it with the
// pinned hash, whatever was found before. It returns where the library is. The
// error is a *LibraryError where it is missing or wrong.
func VerifyLibrary() (path string, err error) {
	path, err = findLibrary()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return path, &LibraryError{fmt.Sprintf("the ClickHouse library cannot be read: %v", err)}
	}
	return path, checkFile(path, info.Size())
}

func checkFile(path string, size int64) error {
	if size != libraryBytes && isPinned(runtime.GOOS, runtime.GOARCH) {
		return &LibraryError{fmt.Sprintf("the ClickHouse library %s is damaged or of another version: it has %d bytes, not %d", path, size, libraryBytes)}
	}
	return checkHash(path)
}

// isPinned reports whether the library of a platform is known by its hash, and comes
// with its releases.
func isPinned(system, processor string) bool { return system == "linux" && processor == "amd64" }

func checkHash(path string) error {
	if !isPinned(runtime.GOOS, runtime.GOARCH) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != LibrarySHA256 {
		return &LibraryError{fmt.Sprintf("the ClickHouse library %s is damaged or of another version: its SHA-256 is %s, not %s", path, got, LibrarySHA256)}
	}
	return nil
}
