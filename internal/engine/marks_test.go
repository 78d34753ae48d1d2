package engine

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestAMarkIsSettledOnlyBetweenChanges(t *testing.T) {
	m := Marks{filepath.Join(t.TempDir(), "marks")}
	first, settled := m.Read("a")
	if again, _ := m.Read("a"); !settled || again != first {
		t.Errorf("before the first change: %x (settled %v), then %x", first, settled, again)
	}
	seen := map[uint64]bool{first: true}
	for range 100 {
		settle, err := m.Change("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, settled := m.Read("a"); settled {
			t.Fatal("settled in the middle of a change")
		}
		if err := settle(); err != nil {
			t.Fatal(err)
		}
		mark, settled := m.Read("a")
		if !settled || seen[mark] {
			t.Fatalf("mark %x: settled %v, seen before %v", mark, settled, seen[mark])
		}
		seen[mark] = true
	}
	if mark, _ := m.Read("b"); seen[mark] {
		t.Error("another account has the mark")
	}
	if files, err := os.ReadDir(m.dir); err != nil || len(files) != 2 {
		t.Errorf("two accounts have the files %v: %v", files, err)
	}
}

// A first mark never takes the place of a writer's.
func TestAReadersFirstMarkDoesNotHideAChange(t *testing.T) {
	for range 200 {
		m := Marks{t.TempDir()}
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() { m.Read("a") })
		}
		settle, err := m.Change("a")
		if err != nil {
			t.Fatal(err)
		}
		readers.Wait()
		if _, settled := m.Read("a"); settled {
			t.Fatal("settled in the middle of a change")
		}
		if err := settle(); err != nil {
			t.Fatal(err)
		}
	}
}

// A power cut may leave a file of a mark without its bytes.
func TestAMarkThatLacksBytesIsNotSettled(t *testing.T) {
	m := Marks{t.TempDir()}
	for _, text := range []string{"", "1234567"} {
		if err := os.WriteFile(m.markPath("a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if mark, settled := m.Read("a"); settled {
			t.Errorf("of %d bytes a mark is read: %x", len(text), mark)
		}
	}
}

// Every request reads a mark: a descriptor that stays open each time ends the server.
func TestAMarkThatWasReadLeavesNoFileOpen(t *testing.T) {
	m := Marks{t.TempDir()}
	leavesNoFileOpen(t, func() { m.Read("a") })
}

// leavesNoFileOpen does something often. The files that it opens have the lowest free
// descriptors of the process.
func leavesNoFileOpen(t *testing.T, do func()) {
	t.Helper()
	dir := t.TempDir()
	nextDescriptor := func() int {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return int(f.Fd())
	}
	const times = 200
	before := nextDescriptor()
	for range times {
		do()
	}
	if after := nextDescriptor(); after >= before+times/2 {
		t.Errorf("after %d times the next file has descriptor %d, and before them %d", times, after, before)
	}
}

// A writer that died in the middle leaves readers careful, until the next
// change is over.
func TestAChangeThatWasNotSettledStaysOpen(t *testing.T) {
	m := Marks{t.TempDir()}
	for range 2 {
		if _, err := m.Change("a"); err != nil {
			t.Fatal(err)
		}
		if _, settled := m.Read("a"); settled {
			t.Error("settled without a reason")
		}
	}
	settle, err := m.Change("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := settle(); err != nil {
		t.Fatal(err)
	}
	if _, settled := m.Read("a"); !settled {
		t.Error("the change that was over left the account unsettled")
	}
}
