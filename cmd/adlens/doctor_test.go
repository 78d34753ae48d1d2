package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
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

// The account may come from a variable, and what takes space is mostly that of others.
func TestDoctorSaysWhichAccountItExamines(t *testing.T) {
	_, o := home(t)
	for _, id := range []string{"acme", "beta"} {
		if out, err := run(o, "account", "add", id, "--name", id); err != nil {
			t.Fatal(out, err)
		}
	}
	all, _ := run(o, "doctor", "--quick")
	if !strings.HasPrefix(all, "ok ") || !strings.Contains(all, "; what lives takes ") {
		t.Errorf("of all accounts: %s", all)
	}
	t.Setenv("ADLENS_ACCOUNT", "acme")
	one, _ := run(o, "doctor", "--quick")
	if !strings.HasPrefix(one, "of the accounts, only acme is examined\nok ") || strings.Contains(one, "what lives takes") ||
		!regexp.MustCompile(`\nok +garbage +acme  0 dead rows take 0 bytes\n`).MatchString(one) {
		t.Errorf("of one account: %s", one)
	}
	out, _ := run(o, "doctor", "--quick", "--json")
	var said struct{ Account string }
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Account != "acme" {
		t.Errorf("in JSON: %v: %s", err, out)
	}
}
