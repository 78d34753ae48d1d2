package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/house"
)

func TestCompletionScriptsParse(t *testing.T) {
	t.Parallel()
	p := house.EmptyProgram(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script := p.Run("completion", shell)
		if script.Code != 0 || len(script.Stdout) < 1000 || script.Stderr != "" {
			t.Errorf("%s: %d bytes, exit code %d, %s", shell, len(script.Stdout), script.Code, script.Stderr)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue // only shells that are here can be asked
		}
		check := exec.Command(shell, "-n")
		check.Stdin = strings.NewReader(script.Stdout)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v: %s", shell, err, out)
		}
	}
	if entries, err := os.ReadDir(p.DataDir); err != nil || len(entries) > 0 {
		t.Errorf("the data directory has %v: %v", entries, err)
	}
}

// pressTab is what a bash does when a user has typed the words and presses
// tab. The function is that of the package bash-completion, in small.
const pressTab = `
_get_comp_words_by_ref() {
  words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
}
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
__start_adlens
printf '%s\n' "${COMPREPLY[@]}"
`

func TestBashCompletesCommandsAndAccounts(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t) // of a server, names of accounts are not completed
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	p := house.OwnProgram(t)
	_, err := p.Account("acme")
	house.Need(t, err)
	bin, dir := t.TempDir(), t.TempDir()
	house.Put(t, dir, "adlens.bash", []byte(p.Run("completion", "bash").Stdout))
	// The script asks the program that was typed.
	house.Put(t, bin, "adlens", []byte("#!/bin/sh\nexec '"+p.Bin+"' \"$@\"\n"))
	house.Need(t, os.Chmod(filepath.Join(bin, "adlens"), 0o700))
	tab := func(words ...string) string {
		t.Helper()
		command := exec.Command("bash", append([]string{"-c", pressTab, "bash", filepath.Join(dir, "adlens.bash"), "adlens"}, words...)...)
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ADLENS_DATA_DIR="+p.DataDir)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return strings.TrimSpace(string(out))
	}
	for typed, want := range map[string]string{"doc": "doctor", "accou": "account", "lo": "load"} {
		if got := tab(typed); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
	house.Need(t, p.StopEngine())
	if got := tab("load", "--account", "ac"); got != "" {
		t.Errorf("without a running engine: %q", got)
	}
	server := house.Serve(t, p)
	if got := tab("load", "--account", "ac"); !strings.HasPrefix(got, "acme") {
		t.Errorf("beside %s: %q, want acme", server.Address, got)
	}
}
