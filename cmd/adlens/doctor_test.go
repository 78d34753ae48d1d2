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

// The rights that a user lacks are looked for where everything else is read.
func TestDoctorExaminesTheDatabaseThatAllElseOpens(t *testing.T) {
	for address, want := range map[string]string{
		"":                                         "",
		"clickhouse://u:p@h:9000":                  "adlens",
		"clickhouse://u:p@h:9000/figures":          "figures",
		"https://u:p@h:8443/figures":               "figures",
		"https://u:p@one:8443,h:8443/":             "adlens",
		"https://u:p@one:8443,h:8443/figures":      "figures",
		"clickhouse://u:p@h:9000?database=figures": "figures",
		"what is this":                             "",
	} {
		o := options{clickhouse: address, dataDir: t.TempDir()}
		if in := o.newInstallation(platformOptions{}, ""); in.Remote != want {
			t.Errorf("%q is examined in %q, expected %q", address, in.Remote, want)
		}
	}
}
