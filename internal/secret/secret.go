// Package secret keeps what must not be readable at rest: it seals texts with
// a key that lies in a file of the operator's.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// keyBytes is the size of a key: AES-256.
const keyBytes = 32

// Key seals and opens. It never prints itself.
type Key struct{ gcm cipher.AEAD }

// String hides the key from logs.
func (Key) String() string { return "secret key" }

// GoString hides the key from logs.
func (k Key) GoString() string { return k.String() }

// ReadOrMakeKey reads the key of a file, and makes the file where it is
// missing.
func ReadOrMakeKey(path string) (Key, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	return ReadKey(path)
}

// ReadKey reads the key of a file. A file that others may read is refused:
// a program that can read it can open what it seals.
func ReadKey(path string) (Key, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, fmt.Errorf("the key file %s is missing: nothing was connected here, or it was kept elsewhere (--secret-key-file)", path)
	}
	if err != nil {
		return Key{}, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !(isMounted(info) && mode&^0o440 == 0) {
		return Key{}, fmt.Errorf("%s can be read by others (mode %04o); expected 0600: chmod 600 %s", path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != keyBytes {
		return Key{}, fmt.Errorf("%s holds no key; expected %d bytes in base64", path, keyBytes)
	}
	return newKey(raw)
}

// isMounted reports whether a file is given to a program without root in the way
// of Kubernetes: it is root's, and the program's own group may read it.
func isMounted(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && isGiven(int(stat.Uid), int(stat.Gid), os.Geteuid(), os.Getegid())
}

func isGiven(owner, group, user, own int) bool {
	return owner == 0 && user != 0 && group != 0 && group == own
}

// makeKey writes a new key. Of two processes that do so at once, one wins and
// both use its key.
func makeKey(path string) (Key, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Key{}, err
	}
	raw := make([]byte, keyBytes)
	rand.Read(raw)
	temporary, err := os.CreateTemp(filepath.Dir(path), ".secret-*")
	if err != nil {
		return Key{}, err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(base64.StdEncoding.EncodeToString(raw) + "\n")
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return Key{}, err
	}
	if err := os.Link(temporary.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, err
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return Key{}, err
	}
	return ReadKey(path)
}

// syncDirectory makes a file's name survive a power cut: what is sealed with the key goes to
// another disk, or another machine.
func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func newKey(raw []byte) (Key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return Key{}, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	return Key{gcm}, err
}

// Seal encrypts a text for a purpose; it opens for the same purpose alone, so
// that one account's secret cannot be put in the place of another's.
func (k Key) Seal(text []byte, purpose string) string {
	return base64.StdEncoding.EncodeToString(k.gcm.Seal(nil, nil, text, []byte(purpose)))
}

// ErrSealed says that a text was sealed with another key or for another
// purpose, or is damaged.
var ErrSealed = errors.New("it cannot be opened with this secret key")

// Open decrypts what Seal gave.
func (k Key) Open(sealed, purpose string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, ErrSealed
	}
	text, err := k.gcm.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}
