package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// UserName is the name of a user of this machine, and the number alone where
// it has none, as in a container. Programs such as chown take either.
func UserName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

// checkOwner makes sure that the engine's folder, where there is one, belongs to who
// runs this. Files that root writes into another's folder are its own, and keep
// the owner's engine from starting ever after.
func (h home) checkOwner() error {
	var stat unix.Stat_t
	err := unix.Stat(string(h), &stat)
	if errors.Is(err, fs.ErrPermission) { // then who may look into the directory around it is who has to run this
		err = unix.Stat(filepath.Dir(string(h)), &stat)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	if me := uint32(os.Geteuid()); stat.Uid != me {
		owner := UserName(stat.Uid)
		return fmt.Errorf("the data in %s belongs to user %s, and this is user %s, whose files that one could not use; run this as user %s: sudo -u '#%d' adlens COMMAND",
			filepath.Dir(string(h)), owner, UserName(me), owner, stat.Uid)
	}
	return nil
}

// checkStored makes sure that an engine which starts can read all that is stored: a part with a
// file that it may not read, as one of another user, it would take for broken, and set aside for
// good.
func (h home) checkStored() error {
	return filepath.WalkDir(h.storeDir(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			err = unix.Access(path, unix.R_OK)
		}
		var stat unix.Stat_t
		switch {
		case !errors.Is(err, fs.ErrPermission): // what else is wrong with a part is the engine's to say
			return nil
		case unix.Lstat(path, &stat) != nil:
			return err
		}
		me := UserName(uint32(os.Geteuid()))
		return fmt.Errorf("%s belongs to user %s, and this is user %s, who may not read it; the engine was not started, since it would set sound data aside: chown -R %s %s",
			path, UserName(stat.Uid), me, me, filepath.Dir(string(h)))
	})
}
