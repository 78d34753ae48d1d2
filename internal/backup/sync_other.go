//go:build !linux

package backup

import (
	"errors"
	"io/fs"
	"os"
)

// syncDraft syncs a file before it gets its name: only Linux syncs a whole file
// system and waits for it.
func syncDraft(draft *os.File) error { return draft.Sync() }

// syncPlace syncs the directories, which hold the names of the files.
func syncPlace(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
