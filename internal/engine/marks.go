package engine

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Marks tell every process that uses the engine of a data directory whether an
// account, or the directory of all, has changed, for the price of reading eight bytes. All of them run
// on one machine, so they see one file, and a write to it is seen by the next
// read.
//
// A mark is a random number that no other change of the same had. Its
// lowest bit says that a change is under way, or was when its writer died:
// then nothing may rely on what is remembered. Half of an old and half of a new
// mark do no harm either: they are a number that never comes again.
type Marks struct{ dir string }

// Marks returns the marks of the engine's accounts.
func (e *Engine) Marks() Marks { return Marks{e.home.filePath("marks")} }

const changing = 1

func (m Marks) markPath(account string) string {
	return filepath.Join(m.dir, hex.EncodeToString([]byte(account)))
}

// Read returns an account's mark. What was read of the account after a mark
// was read is still true while the mark is the same. Settled is false where
// nothing follows from the mark: a change is under way, or it cannot be read.
func (m Marks) Read(account string) (mark uint64, settled bool) {
	mark, err := m.readMark(account)
	if errors.Is(err, fs.ErrNotExist) && m.createMark(account) == nil {
		mark, err = m.readMark(account)
	}
	return mark, err == nil && mark&changing == 0
}

// readMark reads a mark, as every request does, with three calls of the system: an
// os.File takes five more to find out that nothing ever waits for a file. Where a signal
// interrupts it, the request reads from the database.
func (m Marks) readMark(account string) (mark uint64, err error) {
	descriptor, err := syscall.Open(m.markPath(account), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	var raw [8]byte
	n, err := syscall.Pread(descriptor, raw[:], 0)
	if err == nil && n < len(raw) {
		err = io.ErrUnexpectedEOF
	}
	return binary.LittleEndian.Uint64(raw[:]), errors.Join(err, syscall.Close(descriptor))
}

// createMark gives an account that has no mark, because nothing was loaded into it
// here, its first one. A reader may do so beside a writer: the file appears
// whole, and only where the writer's is not there.
func (m Marks) createMark(account string) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(m.dir, ".first-")
	if err != nil {
		return err
	}
	_, err = f.Write(binary.LittleEndian.AppendUint64(nil, rand.Uint64()&^changing))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Link(f.Name(), m.markPath(account))
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// Change says that an account is about to change, which only its one writer
// may do. Settle says that the change is visible to everybody who asks from
// now on; a writer that does not know leaves it out.
func (m Marks) Change(account string) (settle func() error, err error) {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, err
	}
	if err := m.writeMark(account, rand.Uint64()|changing); err != nil {
		return nil, fmt.Errorf("the account's mark cannot be set: %w", err)
	}
	return func() error { return m.writeMark(account, rand.Uint64()&^changing) }, nil
}

// writeMark overwrites the mark in its place: a file that was moved there instead
// would be seen only by those who open it again.
func (m Marks) writeMark(account string, mark uint64) error {
	f, err := os.OpenFile(m.markPath(account), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(binary.LittleEndian.AppendUint64(nil, mark), 0)
	return errors.Join(err, f.Close())
}
