package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// home is the engine's folder inside a data directory.
type home string

func homeOf(dataDir string) home { return home(filepath.Join(dataDir, "engine")) }

func (h home) filePath(name string) string { return filepath.Join(string(h), name) }

func (h home) startLock() string    { return h.filePath("start.lock") }
func (h home) engineLock() string   { return h.filePath("engine.lock") }
func (h home) usersLock() string    { return h.filePath("users.lock") }
func (h home) endpointFile() string { return h.filePath("engine.json") }
func (h home) logFile() string      { return h.filePath("engine.log") }
func (h home) configFile() string   { return h.filePath("config.xml") }
func (h home) usersFile() string    { return h.filePath("users.xml") }
func (h home) storeDir() string     { return h.filePath("store") }

// checkWritable makes sure that the disk is not mounted read-only: whatever fails
// there first has another reason to tell.
func (h home) checkWritable() error {
	dir := string(h)
	for _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	if !errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS) {
		return nil
	}
	return fmt.Errorf("the disk of the data directory %s is mounted read-only, and the engine has to write: mount it for writing, or name another directory with --data-dir", filepath.Dir(string(h)))
}

// isStarting reports whether the newest engine, which does not answer, may still be
// starting.
func (h home) isStarting(silent error) bool {
	info, err := os.Stat(h.endpointFile())
	return err != nil || time.Since(info.ModTime()).Abs() < patienceFor(silent) // the clock may have been set back
}

// createFolder creates the folder. Account figures are private: only the owner
// may look into it, whatever the umask of the caller.
func (h home) createFolder() error {
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return fmt.Errorf("the data directory cannot be made: %w", err)
	}
	return nil
}

// Endpoint is where a running engine answers, and as whom to ask.
type Endpoint struct {
	PID            int    `json:"pid"`
	Address        string `json:"address"` // host:port of its HTTP interface
	ReaderPassword string `json:"reader_password"`
	LoaderPassword string `json:"loader_password"`
	Gate           string `json:"gate"` // value of GateHeader, without which nothing is answered
	Version        string `json:"version"`
}

// GateHeader is the HTTP header that every request to the engine must carry.
const GateHeader = "X-Adlens-Gate"

// The engine's two users: the reader may only select (readonly=2, so that the
// driver's own settings pass), the loader owns the database.
const (
	ReaderUser = "reader"
	LoaderUser = "loader"
	Database   = "adlens"
)

func (h home) readEndpoint() (Endpoint, error) {
	var e Endpoint
	text, err := os.ReadFile(h.endpointFile())
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("%s: %w", h.endpointFile(), err)
	}
	return e, nil
}

// writeEndpoint replaces engine.json whole: a reader sees the old or the new.
func (h home) writeEndpoint(e Endpoint) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	next := h.endpointFile() + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, h.endpointFile())
}
