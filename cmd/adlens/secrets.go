package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"adlens/internal/connector"

	"golang.org/x/term"
)

// typed is what a person types, or what is piped in instead, and where they are
// told what to type.
type typed struct {
	in    io.Reader
	lines *bufio.Reader
	out   io.Writer
}

func newTyped(in io.Reader, out io.Writer) *typed { return &typed{in, bufio.NewReader(in), out} }

// readSecrets takes both secrets from one place: a file, the environment, or the
// terminal. Where a consent can bring it, there may be no refresh token.
func (in *typed) readSecrets(ctx context.Context, path string, consent bool) (s connector.Secrets, err error) {
	if path != "" {
		s, err = secretsOfFile(path)
	} else {
		s = connector.Secrets{ClientSecret: os.Getenv("ADLENS_CLIENT_SECRET"), RefreshToken: os.Getenv("ADLENS_REFRESH_TOKEN")}
		if s.ClientSecret == "" && s.RefreshToken == "" {
			s, err = in.askSecrets(ctx, consent)
		}
	}
	switch {
	case err != nil:
	case s.ClientSecret == "" && consent:
		err = fmt.Errorf("the client secret is needed: set ADLENS_CLIENT_SECRET, or give --secrets-file")
	case s.ClientSecret == "" || s.RefreshToken == "" && !consent:
		err = fmt.Errorf("both the client secret and the refresh token are needed: set ADLENS_CLIENT_SECRET and ADLENS_REFRESH_TOKEN, or give --secrets-file; for consent at the platform instead of a refresh token, give --redirect-url")
	}
	return s, err
}

func secretsOfFile(path string) (connector.Secrets, error) {
	var s connector.Secrets
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return s, fmt.Errorf("%s can be read by others (mode %04o); expected 0600: chmod 600 %s", path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: expected JSON with client_secret and refresh_token", path)
	}
	return s, nil
}

// askSecrets reads two lines, without showing them where a person types; one alone
// where a consent brings the refresh token.
func (in *typed) askSecrets(ctx context.Context, consent bool) (s connector.Secrets, err error) {
	if s.ClientSecret, err = in.askSecret(ctx, "client secret"); err == nil && !consent {
		s.RefreshToken, err = in.askSecret(ctx, "refresh token")
	}
	return s, err
}

// askSecret reads a line; a signal ends the wait for it, which the system's read would go
// on with.
func (in *typed) askSecret(ctx context.Context, name string) (string, error) {
	read, restore := func() (string, error) { return in.lines.ReadString('\n') }, func() {}
	if f, isFile := in.in.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(in.out, "%s: ", name)
		if shown, err := term.GetState(int(f.Fd())); err == nil {
			restore = func() { term.Restore(int(f.Fd()), shown) }
		}
		read = func() (string, error) {
			text, err := term.ReadPassword(int(f.Fd()))
			fmt.Fprintln(in.out)
			return string(text), err
		}
	}
	var text string
	done := make(chan error, 1)
	go func() {
		var err error
		text, err = read()
		done <- err
	}()
	select {
	case err := <-done:
		if err == io.EOF {
			err = nil
		}
		return strings.TrimSpace(text), err
	case <-ctx.Done():
		restore()
		return "", context.Cause(ctx)
	}
}

// showConsent says where to consent, and what to do then.
func (in *typed) showConsent(address string, listens bool) {
	fmt.Fprintf(in.out, "Open this address in a browser, sign in as the advertiser and allow the access:\n\n%s\n\n", address)
	if listens {
		fmt.Fprintln(in.out, "The answer comes by itself where the browser is on this machine. From another one, paste")
		fmt.Fprintln(in.out, "the address that the browser was sent to, or the code in it, and press Enter.")
		return
	}
	fmt.Fprintln(in.out, "Then paste the address that the browser was sent to, or the code in it, and press Enter.")
}
