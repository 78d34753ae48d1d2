package freshness_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// consenting is a connect command that waits for a consent.
type consenting struct {
	login
	command  *exec.Cmd
	typed    io.WriteCloser
	redirect string
	address  *url.URL // that it shows
	said     chan string
	out      *strings.Builder
}

// startConsent runs connect without a refresh token until it shows an address.
func (l login) startConsent(t *testing.T, redirect string, args ...string) *consenting {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	t.Cleanup(cancel)
	args = append([]string{"connect", "--account", l.account, "--client-id", standin.DefaultClientID, "--redirect-url", redirect}, args...)
	c := &consenting{login: l, redirect: redirect, said: make(chan string, 1), out: &strings.Builder{},
		command: l.Program.Command(ctx, append(args, house.PlatformFlags(l.platform)...)...)}
	c.command.Env = append(c.command.Env, "ADLENS_CLIENT_SECRET="+house.CanarySecret)
	c.command.Stdout = c.out
	var err error
	c.typed, err = c.command.StdinPipe()
	house.Need(t, err)
	stderr, err := c.command.StderrPipe()
	house.Need(t, err)
	house.Need(t, c.command.Start())
	lines, shown := bufio.NewReader(stderr), ""
	for c.address == nil {
		line, err := lines.ReadString('\n')
		shown += line
		if strings.HasPrefix(line, "https://") {
			c.address, err = url.Parse(strings.TrimSpace(line))
		}
		if err != nil {
			t.Fatalf("no address is shown: %v: %s", err, shown)
		}
	}
	go func() {
		rest, _ := io.ReadAll(lines)
		c.said <- shown + string(rest)
	}()
	return c
}

// end waits for the command and returns its exit code and what it said.
func (c *consenting) end(t *testing.T) (code int, said string) {
	t.Helper()
	said = <-c.said
	_ = c.command.Wait() // the exit code says how it went
	said += c.out.String()
	if strings.Contains(said, house.CanarySecret) || strings.Contains(said, "Atzr|") {
		t.Errorf("a secret is shown: %s", said)
	}
	return c.command.ProcessState.ExitCode(), said
}

// decide opens the address in a browser without scripts, whose requests to the
// platform's page reach the stand-in's, and returns where it is sent to.
func (c *consenting) decide(t *testing.T, decision string) *url.URL {
	t.Helper()
	page := c.platform.ConsentURL() + "?" + c.address.RawQuery
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := browser.Get(page)
	house.Need(t, err)
	if r.Body.Close(); r.StatusCode != http.StatusOK {
		t.Fatalf("the consent page answers %d to %s", r.StatusCode, page)
	}
	r, err = browser.PostForm(page, url.Values{"decision": {decision}})
	house.Need(t, err)
	house.Need(t, r.Body.Close())
	to, err := r.Location()
	house.Need(t, err)
	return to
}

// visit opens an address, as the browser that is sent there.
func visit(t *testing.T, address *url.URL) (status int, text string) {
	t.Helper()
	r, err := http.Get(address.String())
	house.Need(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	house.Need(t, err)
	return r.StatusCode, string(body)
}

// withState is an address with another state.
func withState(address *url.URL, state string) *url.URL {
	other, query := *address, address.Query()
	query.Set("state", state)
	other.RawQuery = query.Encode()
	return &other
}

// loopback is a redirect address of a port that nothing listens on.
func loopback(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	house.Need(t, err)
	defer l.Close()
	return fmt.Sprintf("http://localhost:%d/back?from=adlens", l.Addr().(*net.TCPAddr).Port)
}

// elsewhere is a redirect address that is not of this machine.
const elsewhere = "https://example.com/adlens"

func TestAConsentComesByTheBrowser(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"})
	redirect := loopback(t)
	l.platform.SetReturnURLs(redirect)
	l.platform.Restate(sold(1, 3, "1", "10"))
	c := l.startConsent(t, redirect, "--region", "NA")
	if c.address.Host+c.address.Path != "www.amazon.com/ap/oa" || c.address.Query().Get("redirect_uri") != redirect {
		t.Errorf("the address is %s", c.address)
	}
	to := c.decide(t, "allow")
	if status, text := visit(t, withState(to, "another")); status != http.StatusBadRequest || !strings.Contains(text, "not the consent") {
		t.Errorf("another state: %d %s", status, text)
	}
	other := *to
	other.Path = "/elsewhere"
	if status, _ := visit(t, &other); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	l.wantConnections(t)
	if status, text := visit(t, to); status != http.StatusOK || !strings.Contains(text, "can be closed") {
		t.Errorf("the browser is answered %d %s", status, text)
	}
	if code, said := c.end(t); code != 0 || !strings.Contains(said, "account "+l.account+" is connected (NA)") {
		t.Fatalf("connect: %d %s", code, said)
	}
	l.wantConnections(t, "NA accepted 1")
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, l.ask, `"spend":1.00,"sales":10.00`)
	house.NoCanary(t, l.DataDir)
}

func TestAConsentIsPasted(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"}, standin.Profile{ID: 4, Country: "UK"}, standin.Profile{ID: 5, Country: "JP"})
	l.platform.SetReturnURLs(elsewhere)
	for region, host := range map[string]string{"NA": "www.amazon.com", "EU": "eu.account.amazon.com", "FE": "apac.account.amazon.com"} {
		c := l.startConsent(t, elsewhere, "--region", region, "--json")
		if c.address.Host != host {
			t.Errorf("the page of %s is at %s, want %s", region, c.address.Host, host)
		}
		text := c.decide(t, "allow").String()
		if region == "EU" {
			answered, err := url.Parse(text)
			house.Need(t, err)
			text = answered.Query().Get("code")
		}
		fmt.Fprintf(c.typed, "\n  %s \n", text)
		if code, said := c.end(t); code != 0 || !strings.Contains(said, `"connection":"`+region+`"`) {
			t.Errorf("%s: %d %s", region, code, said)
		}
	}
	l.wantConnections(t, "EU accepted 4", "FE accepted 5", "NA accepted 1")
}

func TestAConsentThatIsNotGivenChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"})
	back := loopback(t)
	l.platform.SetReturnURLs(elsewhere, back)
	type course struct {
		redirect string
		play     func(c *consenting)
		want     string
	}
	paste := func(text string) func(*consenting) {
		return func(c *consenting) { fmt.Fprintln(c.typed, text) }
	}
	for name, one := range map[string]course{
		"refused": {elsewhere, func(c *consenting) { fmt.Fprintln(c.typed, c.decide(t, "deny")) }, `gave no consent: "access_denied"`},
		"refused in the browser": {back, func(c *consenting) {
			visit(t, c.decide(t, "deny"))
		}, `gave no consent: "access_denied"`},
		"another state":        {elsewhere, func(c *consenting) { fmt.Fprintln(c.typed, withState(c.decide(t, "allow"), "other")) }, "state is not the one"},
		"no state":             {elsewhere, paste(elsewhere + "?code=ANx"), "state is not the one"},
		"a code of nothing":    {elsewhere, paste("ANunknown"), "invalid_grant"},
		"a code with controls": {elsewhere, paste("AN\x1bx"), "characters that it cannot have"},
		"nothing typed":        {elsewhere, func(c *consenting) { c.typed.Close() }, "no code was typed"},
		"a used code": {elsewhere, func(c *consenting) {
			to := c.decide(t, "allow")
			r, err := http.PostForm(l.platform.TokenURL(), url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "redirect_uri": {elsewhere},
				"client_id": {standin.DefaultClientID}, "client_secret": {house.CanarySecret}})
			house.Need(t, err)
			if r.Body.Close(); r.StatusCode != http.StatusOK {
				t.Errorf("the code was not good the first time: %d", r.StatusCode)
			}
			fmt.Fprintln(c.typed, to)
		}, "good once"},
	} {
		c := l.startConsent(t, one.redirect, "--region", "NA")
		one.play(c)
		if code, said := c.end(t); code == 0 || !strings.Contains(said, one.want) {
			t.Errorf("%s: want %q, got %d %s", name, one.want, code, said)
		}
	}
	l.wantConnections(t)
	l.wantMarketplaces(t)
	for _, args := range [][]string{{"--redirect-url", "http://example.com/"}, {"--redirect-url", "localhost:8765"}, {"--redirect-url", "https://u:p@example.com/"}} {
		l.refresh = ""
		refused(t, l.connect(t, append(args, "--region", "NA")...), "allowed return addresses")
	}
	refused(t, l.connect(t, "--region", "NA"), "give --redirect-url")
}

// The command that chooses profiles after a consent needs another one: nothing has
// shown the refresh token.
func TestTheCommandThatChoosesAsksForConsentToo(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US", AccountID: "A1"}, standin.Profile{ID: 2, Country: "US", AccountID: "A2"})
	const questioned = elsewhere + "?from=adlens&to=it"
	l.platform.SetReturnURLs(elsewhere, questioned)
	for redirect, want := range map[string]string{elsewhere: elsewhere, questioned: "'" + questioned + "'"} {
		c := l.startConsent(t, redirect, "--region", "NA")
		fmt.Fprintln(c.typed, c.decide(t, "allow"))
		if code, said := c.end(t); code == 0 || !strings.Contains(said, "--client-id "+standin.DefaultClientID+" --redirect-url "+want+" --profiles ID,ID") {
			t.Errorf("want the command with --redirect-url %s, got %d %s", want, code, said)
		}
	}
	if r := l.connect(t, "--region", "NA", "--redirect-url", elsewhere); r.Code == 0 || strings.Contains(r.Stderr, "--redirect-url") {
		t.Errorf("there is a refresh token: %s", r)
	}
	l.wantConnections(t)
}
