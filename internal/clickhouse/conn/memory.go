package conn

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MemoryFile is the name of the file in a data directory.
const MemoryFile = "identity.json"

// Memory remembers, away from a database, which one it was. The zero Memory
// remembers nothing.
type Memory struct {
	Path string // of a file in a data directory; "" for none
	Name string // of the database, among others that the file knows
}

// Read returns the database's identity, "" where the file does not know it.
func (m Memory) Read() (id string, err error) {
	all, err := m.readAll()
	return all[m.Name], err
}

func (m Memory) readAll() (map[string]string, error) {
	all := map[string]string{}
	if m.Path == "" {
		return all, nil
	}
	text, err := os.ReadFile(m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, Refusal("%s, which says which database this data directory is of, cannot be read: %v; restore it, or remove it where you are sure that the database is the right one", m.Path, err)
	}
	return all, nil
}

// Keep writes the database's identity down, where the directory of the file is
// there. It is whole or the old one, whenever the power goes.
func (m Memory) Keep(id string) error {
	if m.Path == "" {
		return nil
	}
	all, err := m.readAll()
	if err != nil || all[m.Name] == id {
		return err
	}
	dir, err := os.Open(filepath.Dir(m.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	all[m.Name] = id
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir.Name(), ".identity-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), m.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return dir.Sync()
}
