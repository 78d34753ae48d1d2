package engine

import (
	"testing"
)

func TestADataDirectoryMayBeRelativeAndHaveAnyName(t *testing.T) {
	library, err := findLibrary()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(libraryVariable, library)
	t.Chdir(t.TempDir())
	for _, dir := range []string{"adlens-data", "R&D <möbel>"} {
		e := open(t, dir)
		endpoint(t, e)
		closed(t, e)
	}
}
