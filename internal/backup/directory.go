package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// directory is a place in the file system. Nothing outside it is read or
// written, wherever links in it may lead.
type directory struct {
	path string
	root *os.Root
}

// drafts is where files are written before they get their names.
const drafts = "drafts"

func openDirectory(path string, make bool) (Place, error) {
	if path == "" {
		return nil, errors.New("the directory has no name; expected a directory or s3://bucket/prefix")
	}
	if make {
		if err := os.MkdirAll(filepath.Join(path, drafts), 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &directory{path, root}, nil
}

func (d *directory) String() string { return d.path }

// List reads the directory that the prefix names.
func (d *directory) List(_ context.Context, prefix string) (map[string]int64, error) {
	sizes := map[string]int64{}
	folder := strings.TrimSuffix(prefix, "/")
	entries, err := fs.ReadDir(d.root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return sizes, nil
	}
	for _, e := range entries {
		info, fault := e.Info()
		if fault == nil && info.Mode().IsRegular() {
			sizes[path.Join(folder, e.Name())] = info.Size()
		}
	}
	return sizes, err
}

func (d *directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	// A pipe in the place of a file would be waited for without end.
	f, err := d.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Damage{name, ErrMissing}
	}
	if err != nil {
		return nil, &Damage{name, err}
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no plain file")
	}
	if err != nil {
		return nil, errors.Join(&Damage{name, err}, f.Close())
	}
	return diskFile{f, name}, nil
}

// diskFile is a file that is damaged where its disk does not give it: no other try does.
type diskFile struct {
	*os.File
	name string
}

func (f diskFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Damage{f.name, err}
	}
	return n, err
}

func (d *directory) Draft() (*os.File, error) {
	return os.CreateTemp(filepath.Join(d.path, drafts), "draft-")
}

// Keep gives the draft its name. It may not be synced yet: see Settle.
func (d *directory) Keep(_ context.Context, name string, draft *os.File) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if err := syncDraft(draft); err != nil {
		return err
	}
	return d.root.Rename(path.Join(drafts, filepath.Base(draft.Name())), name)
}

// Settle syncs what was kept.
func (d *directory) Settle(context.Context) error { return syncPlace(d.root) }

func (d *directory) Remove(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

// Sweep removes them all: a writer here holds the lock. Names differ by more than case:
// some disks list what has two spellings under one.
func (d *directory) Sweep(ctx context.Context, needed map[string]bool) error {
	kept := map[string]bool{}
	for name := range needed {
		kept[strings.ToLower(name)] = true
	}
	accounts, err := fs.ReadDir(d.root.FS(), "accounts")
	if err != nil {
		return err
	}
	for _, a := range accounts {
		stored, err := d.List(ctx, path.Join("accounts", a.Name()))
		if err != nil {
			return err
		}
		for name := range stored {
			if kept[strings.ToLower(name)] {
				continue
			}
			if err := d.Remove(ctx, name); err != nil {
				return err
			}
		}
		if err := d.removeEmptied(a); err != nil {
			return err
		}
	}
	return nil
}

// removeEmptied removes the directory of an account of which no backup is left: it has the
// account's id. One with anything in it, as of the user's own, stays.
func (d *directory) removeEmptied(account fs.DirEntry) error {
	if !account.IsDir() {
		return nil
	}
	err := d.root.Remove(path.Join("accounts", account.Name()))
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// Lock holds a lock of the kernel, and removes the drafts of those who died.
func (d *directory) Lock(context.Context) (release func() error, err error) {
	f, err := d.root.OpenFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(d.lockError(err), f.Close())
	}
	left, err := fs.ReadDir(d.root.FS(), drafts)
	for _, e := range left {
		err = errors.Join(err, d.root.Remove(path.Join(drafts, e.Name())))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func (d *directory) lockError(err error) error {
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("another backup is being written to %s; wait for its end", d.path)
	}
	return fmt.Errorf("%s cannot be locked: %w", d.path, err)
}
