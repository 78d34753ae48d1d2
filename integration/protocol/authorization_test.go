package protocol_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"adlens/integration/house"
)

// TestAuthorizationConformance runs the suite's scenarios for authorization
// servers. The suite prints the address of an authorization request and waits
// for the callback; the test gives the consent.
func TestAuthorizationConformance(t *testing.T) {
	issuer := startShared(t)
	var metadata struct {
		Registration string `json:"registration_endpoint"`
	}
	getJSON(t, issuer+"/.well-known/oauth-authorization-server", &metadata)
	port := freePort(t)
	client := registerClient(t, metadata.Registration, fmt.Sprintf("http://127.0.0.1:%d/callback", port))

	command := nodeCommand(t, conformanceScript, "authorization", "--url", issuer, "--client-id", client,
		"--resource", issuer+"/mcp", "--port", fmt.Sprint(port), "--output-dir", "results")
	stdout, err := command.StdoutPipe()
	house.Need(t, err)
	command.Stderr = command.Stdout
	house.Need(t, command.Start())
	var output strings.Builder
	lines := bufio.NewScanner(io.TeeReader(stdout, &output))
	for lines.Scan() {
		if !strings.Contains(lines.Text(), "code_challenge=") || !strings.HasPrefix(lines.Text(), "http") {
			continue
		}
		redirect, err := giveConsent(t, lines.Text())
		if err != nil {
			t.Error(err)
			break
		}
		response, err := http.Get(redirect)
		house.Need(t, err)
		response.Body.Close()
	}
	if t.Failed() {
		_ = command.Process.Kill() // it would wait five minutes for the callback
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the suite ended with %v\n%s", err, &output)
	}
	const want = "✓ authorization-server-metadata-endpoint: 2 passed, 0 failed\n✓ authorization-code-grant: 1 passed, 0 failed\n"
	got := summaryLines(output.String())
	t.Logf("%s", got)
	if got != want {
		t.Errorf("want these scenarios:\n%sgot:\n%s", want, &output)
	}
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	house.Need(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
