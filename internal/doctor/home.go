package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adlens"
	"adlens/internal/engine"

	"golang.org/x/sys/unix"
)

// checkHome checks the data directory, and reports whether the engine may be started
// in it: in what is no data directory it would make one, and as another user
// files that the owner cannot write.
func (e *examination) checkHome() bool {
	if !e.runCheck("data_directory", e.dataDirectory) {
		return false
	}
	owned := e.runCheck("file_owners", e.fileOwners)
	e.runCheck("file_modes", e.fileModes)
	e.runCheck("file_system", e.fileSystem)
	e.runCheck("disk_space", e.diskSpace)
	return owned && e.runCheck("engine_library", e.checkLibrary)
}

func (e *examination) dataDirectory(c *checkup) (string, error) {
	const advice = "name the directory with --data-dir or ADLENS_DATA_DIR; adlens account add makes a new one"
	info, err := os.Stat(e.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.addFailure(advice, "%s does not exist", e.DataDir)
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		c.addFailure(advice, "%s is no directory", e.DataDir)
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(e.DataDir, "engine")); errors.Is(err, fs.ErrNotExist) {
		c.addFailure(advice, "%s holds no data of adlens", e.DataDir)
		return "", nil
	} else if err != nil {
		return "", err
	}
	path, err := filepath.Abs(e.DataDir)
	return path, err
}

// fileOwners looks for files of other users: what root loaded, say, the server
// cannot merge.
func (e *examination) fileOwners(c *checkup) (string, error) {
	me := uint32(os.Geteuid())
	var first string
	var others, owner uint32
	err := e.walkFiles(func(path string, stat *unix.Stat_t) {
		if stat.Uid != me {
			if others == 0 {
				first, owner = path, stat.Uid
			}
			others++
		}
	})
	if err != nil {
		return "", err
	}
	if others > 0 {
		c.addFailure(fmt.Sprintf("run adlens as the user that owns the data, always the same one; or give it all to this one: chown -R %s %s", engine.UserName(me), e.DataDir),
			"%s, %s among them, belong to user %s, and this is user %s; the engine was not started", adlens.FormatCount(int(others), "file"), first, engine.UserName(owner), engine.UserName(me))
	}
	return "all belong to user " + engine.UserName(me), nil
}

// walkFiles visits all files of the data directory that can be seen. Those that go
// meanwhile are no fault: the engine moves its files about. A folder that
// this user may not look into is visited itself: whose it is tells enough.
func (e *examination) walkFiles(visit func(path string, stat *unix.Stat_t)) error {
	return filepath.WalkDir(e.DataDir, func(path string, entry fs.DirEntry, err error) error {
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		hidden := errors.Is(err, fs.ErrPermission)
		if err != nil && !hidden {
			return err
		}
		var stat unix.Stat_t
		err = unix.Lstat(path, &stat)
		if err == nil {
			visit(path, &stat)
		}
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err == nil && hidden {
			return fs.SkipDir
		}
		return err
	})
}

// private are the places in a data directory that only its owner may
// look into: figures of accounts, passwords of the engine, the key of secrets, the
// token of a running server.
var private = []string{"engine", "locks", "extracts", "secret.key", "serve.json"}

func (e *examination) fileModes(c *checkup) (string, error) {
	for _, name := range append([]string{""}, private...) {
		path := filepath.Join(e.DataDir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		needed, forbidden := fs.FileMode(0o700), fs.FileMode(0o077)
		if !info.IsDir() {
			needed = 0o600
		}
		if name == "" {
			forbidden = 0o022 // what is private in it says so itself
		}
		advice := fmt.Sprintf("chmod %o %s", needed, path)
		switch mode := info.Mode().Perm(); {
		case mode&forbidden != 0:
			c.addFailure(advice, "%s can be %s by others (mode %04o)", path, map[bool]string{true: "changed", false: "read"}[name == ""], mode)
		case mode&needed != needed:
			c.addFailure(advice, "%s cannot be used by its owner (mode %04o)", path, mode)
		}
	}
	return "only the owner can read what is private", nil
}

func (e *examination) checkLibrary(c *checkup) (string, error) {
	path, err := engine.VerifyLibrary()
	var wrong *engine.LibraryError
	if errors.As(err, &wrong) {
		c.addFailure(wrong.Remedy(), "%s", wrong.Problem)
		return "", nil
	}
	return path + ", as pinned", err
}
