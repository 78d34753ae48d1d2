package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// template is the path of a data directory that has its tables and nothing
// else: making them takes longer than most tests, copying them does not. The
// packages of tests share one for each binary, below the module's bin.
var template = sync.OnceValues(findTemplate)

// copyTemplate makes a data directory that is not there, or empty, a copy of the
// template.
func (p *Program) copyTemplate() error {
	there, err := os.ReadDir(p.DataDir)
	if len(there) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	made, err := template()
	if err != nil {
		return err
	}
	return copyDirectory(made, p.DataDir)
}

func copyDirectory(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// CopyTo copies the data directory, of which no server runs, and gives a program
// on the copy.
func (p *Program) CopyTo(dir string) (*Program, error) {
	if err := p.StopEngine(); err != nil {
		return nil, err
	}
	if err := copyDirectory(p.DataDir, dir); err != nil {
		return nil, err
	}
	return NewAt(dir, p.Settings...)
}

func findTemplate() (string, error) {
	path, err := Binary()
	if err != nil {
		return "", err
	}
	name, err := templateName(path)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(Root(), "bin")
	found := filepath.Join(bin, name)
	if _, err := os.Stat(found); err == nil {
		return found, nil
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(bin, "template-unfinished-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	made := Program{Bin: path, DataDir: filepath.Join(dir, "data")}
	if r := made.Run("account", "list"); r.Code != 0 {
		return "", fmt.Errorf("account list: %s", r)
	}
	// Another process may have been faster: its directory is as good.
	if err := os.Rename(made.DataDir, found); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return found, nil
}

// templateName has the hash of the binary, which in turn has that of the
// engine's library.
func templateName(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("template-%.16x", hash.Sum(nil)), nil
}
