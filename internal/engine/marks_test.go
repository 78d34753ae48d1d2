package engine

import (
	"path/filepath"
	"testing"
)

func TestAMarkIsSettledOnlyBetweenChanges(t *testing.T) {
	m := Marks{filepath.Join(t.TempDir(), "marks")}
	seen := map[uint64]bool{}
	if _, settled := m.Read("a"); settled {
		t.Error("an account without a change has a mark")
	}
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
	if _, settled := m.Read("b"); settled {
		t.Error("another account has the mark")
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
			t.Error("settled by nobody")
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
