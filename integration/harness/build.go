package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Root is the module's root: commands run there, so that the program finds its
// engine library.
var Root = sync.OnceValue(func() string {
	dir, err := os.Getwd() // of a test: the directory of its package
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	panic(fmt.Sprintf("no go.mod above the working directory: %v", err))
})

// binary is built once in a process; Cleanup removes it.
var binary = struct {
	sync.Once
	path, dir string
	err       error
}{}

// Binary is the path of the program under test.
func Binary() (string, error) {
	binary.Do(func() { binary.path, binary.err = buildBinary() })
	return binary.path, binary.err
}

func buildBinary() (string, error) {
	if path := os.Getenv("ADLENS_BIN"); path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(Root(), path)
		}
		return path, nil
	}
	dir, err := os.MkdirTemp("", "adlens-bin-")
	if err != nil {
		return "", err
	}
	binary.dir = dir
	path := filepath.Join(dir, "adlens")
	command := exec.Command("go", "build", "-o", path, "./cmd/adlens")
	command.Dir = Root()
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return path, nil
}

// Cleanup removes what Binary built and the server that programs shared.
func Cleanup() error {
	err := cleanServer()
	if binary.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(binary.dir))
}
