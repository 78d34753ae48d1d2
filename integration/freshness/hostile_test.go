package freshness_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// hostileTokens is a token service that answers a request, and then sends all of
// it back on the connection that is idle by then. hungUp is closed once the
// client has ended that connection.
func hostileTokens(t *testing.T) (address string, hungUp <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	house.Need(t, err)
	t.Cleanup(func() { listener.Close() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		reader := bufio.NewReader(connection)
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		form, _ := io.ReadAll(request.Body)
		answer := `{"access_token":"Atza|hostile","token_type":"bearer","expires_in":3600}`
		_, _ = fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", len(answer), answer, form)
		_, _ = io.Copy(io.Discard, reader)
	}()
	return "http://" + listener.Addr().String() + "/auth/o2/token", ended
}

// connectTo runs connect against addresses that are not the stand-in's.
func connectTo(t *testing.T, p *harness.Program, account, platform, tokens string) harness.Result {
	t.Helper()
	command := p.Command(t.Context(), "connect", "--account", account, "--region", "NA", "--client-id", "amzn1.application-oa2-client.1",
		"--platform-url", platform, "--platform-token-url", tokens)
	command.Env = append(command.Env, "ADLENS_CLIENT_SECRET="+house.CanarySecret, "ADLENS_REFRESH_TOKEN="+house.CanaryRefresh)
	var out, trouble strings.Builder
	command.Stdout, command.Stderr = &out, &trouble
	if _, exit := command.Run().(*exec.ExitError); !exit && command.ProcessState == nil {
		t.Fatal("connect did not run")
	}
	return harness.Result{Code: command.ProcessState.ExitCode(), Stdout: out.String(), Stderr: trouble.String()}
}

// What a platform says unasked is not printed, and what it says when asked
// controls no terminal.
func TestAHostilePlatformReachesNeitherTheTerminalNorTheLog(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	const steer = "\x1b]0;owned\a\u009b31m\u202e"
	_, err := p.Account("acct")
	house.Need(t, err)
	tokens, hungUp := hostileTokens(t)
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-hungUp
		_, _ = io.WriteString(w, `[{"profileId":1,"countryCode":"US\u001b]0;owned\u0007\u009b31m\u202e","currencyCode":"USD","timezone":"UTC","accountInfo":{"type":"seller"}}]`)
	}))
	t.Cleanup(platform.Close)
	r := connectTo(t, p, "acct", platform.URL, tokens)
	if r.Code == 0 || !strings.Contains(r.Stderr, "countryCode") {
		t.Errorf("want a refusal of the profile, got %s", r)
	}
	mustNotSteer(t, r)
	for _, secret := range []string{house.CanarySecret, house.CanaryRefresh, "canary"} {
		if strings.Contains(r.Stdout+r.Stderr, secret) {
			t.Errorf("%q is printed: %s", secret, r)
		}
	}
	if r := p.Run("account", "add", "steered", "--name", "Lamps "+steer); r.Code != 0 {
		t.Fatalf("%s", r)
	} else {
		mustNotSteer(t, r)
	}
	if r := p.Run("key", "create", "--account", "steered", "--name", steer); r.Code != 0 {
		t.Fatalf("%s", r)
	}
	for _, args := range [][]string{{"account", "list"}, {"account", "list", "--json"}, {"key", "list", "--account", "steered"}, {"load", "--account", steer, t.TempDir()}, {"doctor"}} {
		mustNotSteer(t, p.Run(args...))
	}
	if r := p.Run("account", "list", "--json"); !strings.Contains(r.Stdout, `Lamps \u001b]0;owned\u0007\u009b31m\u202e`) {
		t.Errorf("JSON has another name: %q", r.Stdout)
	}
}

func mustNotSteer(t *testing.T, r harness.Result) {
	t.Helper()
	if strings.ContainsAny(r.Stdout+r.Stderr, "\x1b\a\u009b\u202e") {
		t.Errorf("control characters are printed: %q", r.String())
	}
}

// Every command that opens the data directory names the cause.
func TestAReadOnlyDiskIsNamed(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	dir := house.Mounted(t)
	p, err := harness.NewAlone(dir)
	house.Have(t, err)
	t.Cleanup(func() { house.Need(t, p.Close()) })
	_, err = p.Account("acct")
	house.Need(t, err)
	house.Need(t, syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"}, {"load", "--account", "acct", t.TempDir()}, {"key", "create", "--account", "acct", "--name", "x"},
		{"account", "list"}, {"doctor"}, {"account", "list", "--data-dir", dir + "/new"},
	} {
		r := p.Run(args...)
		if r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, "mounted read-only") || !strings.Contains(r.Stdout+r.Stderr, "for writing") {
			t.Errorf("%q does not name the cause: %s", args, r)
		}
	}
}
