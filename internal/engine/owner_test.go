package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnotherUsersDataIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "engine")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, 54321, 54321); errors.Is(err, fs.ErrPermission) {
		t.Skip("only root can give a folder away")
	} else if err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "belongs to user 54321") || !strings.Contains(err.Error(), "sudo -u '#54321'") {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind, %v", left, err)
	}
}
