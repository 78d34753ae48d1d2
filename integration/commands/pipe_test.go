package commands_test

import (
	"bufio"
	"encoding/json"
	"os"
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
	for range 3 { // each request is a line of the log
		if a := house.Get(t, harness.Client{Address: ready.Address}, "/healthz"); a.Status != 200 {
			t.Fatalf("want 200, got %s", a)
		}
	}
	house.Need(t, command.Process.Signal(syscall.SIGTERM))
	if err := command.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
