package conn

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A file that two databases share remembers each.
func TestTheMemoryOfDatabasesIsWholeOrOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 4 {
		m := Memory{filepath.Join(dir, MemoryFile), fmt.Sprint("database ", i)}
		if err := m.Keep(fmt.Sprint("first ", i)); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if id, err := m.Read(); err != nil || id != fmt.Sprint("first ", i) {
				t.Errorf("%s is %q: %v", m.Name, id, err)
			}
		})
	}
	all.Wait()
	if left, err := filepath.Glob(filepath.Join(dir, ".identity-*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if err := (Memory{filepath.Join(dir, "nowhere", MemoryFile), "x"}).Keep("y"); err != nil {
		t.Errorf("a data directory that is not there is made, or missed: %v", err)
	}
}

// Else the doctor, who is told of refusals, finds nothing where every command fails.
func TestAnUnreadableMemoryIsARefusal(t *testing.T) {
	t.Parallel()
	m := Memory{filepath.Join(t.TempDir(), MemoryFile), "database"}
	if err := os.WriteFile(m.Path, []byte(`{"data`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(); !IsRefusal(err) {
		t.Errorf("a file that was cut off: %v", err)
	}
}
