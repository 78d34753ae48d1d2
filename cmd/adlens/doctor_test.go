package main

import (
	"os"
	"testing"
)

// An empty directory is no folder to start an engine in.
func TestDoctorRefusesAnEmptyDataDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, value := range []string{"a flag", "a variable"} {
		words := []string{"doctor", "--data-dir="}
		if value == "a variable" {
			t.Setenv("ADLENS_DATA_DIR", "")
			words = words[:1]
		}
		root := newRoot()
		root.SetArgs(words)
		if err := root.Execute(); err == nil || err.Error() != "--data-dir is empty; expected a directory" {
			t.Errorf("%s: %v", value, err)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("%v was made: %v", made, err)
	}
}
