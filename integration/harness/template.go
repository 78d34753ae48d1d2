package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// template is a data directory that has its tables and nothing else, made once
// in a process: making them takes longer than most tests, copying them does not.
var template = struct {
	sync.Once
	dir string
	err error
}{}

// furnish makes a data directory that is not there, or empty, a copy of the
// template.
func (p *Program) furnish() error {
	there, err := os.ReadDir(p.DataDir)
	if len(there) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	template.Do(func() { template.err = p.makeTemplate() })
	if template.err != nil {
		return template.err
	}
	if err := os.MkdirAll(p.DataDir, 0o700); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", template.dir+"/data/.", p.DataDir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (p *Program) makeTemplate() (err error) {
	if template.dir, err = os.MkdirTemp("", "adlens-template-"); err != nil {
		return err
	}
	made := Program{Bin: p.Bin, DataDir: filepath.Join(template.dir, "data")}
	if r := made.Run("account", "list"); r.Code != 0 {
		return fmt.Errorf("account list: %s", r)
	}
	return nil
}

func removeTemplate() error {
	if template.dir == "" {
		return nil
	}
	return os.RemoveAll(template.dir)
}
