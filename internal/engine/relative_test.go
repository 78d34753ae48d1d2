package engine

import (
	"testing"
)

func TestADataDirectoryMayBeRelativeAndHaveAnyName(t *testing.T) {
	library, err := FindLibrary()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(LibraryVariable, library)
	t.Chdir(t.TempDir())
	for _, dir := range []string{"adlens-data", "R&D <möbel>"} {
		e := open(t, dir)
		endpoint(t, e)
		closed(t, e)
	}
}
