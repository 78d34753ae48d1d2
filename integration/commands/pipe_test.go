package commands_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// A log often goes to a program that may end or start again: a server answers without it.
func TestAServerOutlivesTheReadersOfItsOutput(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	command := p.Command(t.Context(), "serve", "--listen", "127.0.0.1:0", "--json")
	out, err := command.StdoutPipe()
	house.Need(t, err)
	logged, log, err := os.Pipe()
	house.Need(t, err)
	command.Stderr = log
	house.Need(t, command.Start())
	house.Need(t, log.Close())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	house.Need(t, err)
	var ready struct{ Address string }
	house.Need(t, json.Unmarshal(line, &ready))
	house.Need(t, logged.Close())
	house.Need(t, out.Close())
	for range 3 { // each request but those of balancers is a line of the log
		if a := house.Get(t, harness.Client{Address: ready.Address}, "/openapi.json"); a.Status != 200 {
			t.Fatalf("want 200, got %s", a)
		}
	}
	end := syscall.SIGHUP // of a terminal that is closed
	if signal.Ignored(end) {
		end = syscall.SIGTERM
	}
	house.Need(t, command.Process.Signal(end))
	if err := command.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// What cannot be printed is not called well, and where something was done, the error says
// what: a script that only hears of a full disk would do it again.
func TestWhatWasDoneAndCouldNotBePrintedIsSaid(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	place := t.TempDir()
	if r := p.Run("account", "add", "there", "--name", "There"); r.Code != 0 {
		t.Fatal(r)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"account acme: Acme, active; this could not be printed", []string{"account", "add", "acme", "--name", "Acme"}},
		{"account there: Here, active; this could not be printed", []string{"account", "set", "there", "--name", "Here", "--json"}},
		{"is never shown again; revoke it with adlens app revoke a_", []string{"app", "invite", "--account", "there"}},
		{"0 loaded, 0 unchanged, 0 refused, 0 skipped; 0 rows read for account there; this could not be printed", []string{"load", "--account", "there", t.TempDir()}},
		{"2 accounts, ", []string{"backup", "--to", place}},
		{"write /dev/stdout: no space left", []string{"--help"}},
		{"write /dev/stdout: no space left", []string{"help", "load"}},
		{"write /dev/stdout: no space left", []string{"key"}},
		{"write /dev/stdout: no space left", []string{"--version"}},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		house.Need(t, err)
		var said strings.Builder
		command := p.Command(t.Context(), c.args...)
		command.Stdout, command.Stderr = full, &said
		err = command.Run()
		if err == nil || !strings.Contains(said.String(), c.says) || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%v: %v: %s", c.args, err, said.String())
		}
		house.Need(t, full.Close())
	}
}
