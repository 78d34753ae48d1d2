package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// KeepEngine keeps the embedded engine of the data directory from ending with
// each command: a start costs more than most commands. What a test does to the
// files of an engine, it does after StopEngine.
func (p *Program) KeepEngine() { p.keeps = true }

// holdEngine joins the users of the data directory, once there is one, as the
// program's own commands do.
func (p *Program) holdEngine() error {
	p.holding.Lock()
	defer p.holding.Unlock()
	if !p.keeps || p.held != nil {
		return nil
	}
	file, err := os.Open(filepath.Join(p.DataDir, "engine", "users.lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil {
		return errors.Join(err, file.Close())
	}
	p.held = file
	return nil
}

// ReleaseEngine ends what KeepEngine began: the engine ends with its last user, and so
// does that of each later command.
func (p *Program) ReleaseEngine() error {
	p.holding.Lock()
	defer p.holding.Unlock()
	p.keeps = false
	return p.releaseHeld()
}

func (p *Program) releaseHeld() error {
	if p.held == nil {
		return nil
	}
	err := p.held.Close()
	p.held = nil
	return err
}

// StopEngine releases the data directory and waits until its engine has shut down.
// It fails if a server still uses the engine. The next command starts it again.
func (p *Program) StopEngine() error {
	p.holding.Lock()
	defer p.holding.Unlock()
	if p.held == nil {
		return nil
	}
	if err := p.releaseHeld(); err != nil {
		return err
	}
	engine, err := os.Open(filepath.Join(p.DataDir, "engine", "engine.lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer engine.Close()
	until := time.Now().Add(Patience)
	for err = unix.EWOULDBLOCK; errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		err = unix.Flock(int(engine.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	return err
}
