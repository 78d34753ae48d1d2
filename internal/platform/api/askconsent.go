package api

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// consentPatience is for how long a person's consent is waited for.
const consentPatience = 15 * time.Minute

// Consent asks a person for the consent of the advertiser, at the platform's page.
type Consent struct {
	// Redirect is where the platform sends the browser afterwards: an address that
	// is registered with the application, to the letter. One of http to this machine
	// is listened on.
	Redirect string
	// Show shows the address of the platform's page; listens says whether the answer
	// comes by itself.
	Show func(address string, listens bool)
	// Pasted is where a person types the code, or the address that the browser was
	// sent to.
	Pasted *bufio.Reader
}

// AskConsent returns the refresh token that a consent brings for a configuration
// without one. The state that the platform gives back must be the one that was sent.
func AskConsent(ctx context.Context, cfg Config, consent Consent) (refresh Secret, err error) {
	redirect, err := parseRedirect(consent.Redirect)
	if err != nil {
		return refresh, err
	}
	ctx, cancel := context.WithTimeout(ctx, consentPatience)
	defer cancel()
	w := &consentWait{state: rand.Text(), answers: make(chan consentAnswer, 2)}
	listens := redirect.Scheme == "http"
	if listens {
		stop, err := w.listen(redirect)
		if err != nil {
			return refresh, err
		}
		defer stop()
	}
	consent.Show(ConsentURL(cfg.Region, cfg.ClientID, consent.Redirect, w.state), listens)
	go w.readPasted(consent.Pasted, listens)
	select {
	case a := <-w.answers:
		if a.err != nil {
			return refresh, a.err
		}
		return exchangeCode(ctx, cfg, NewSecret(a.code), consent.Redirect)
	case <-ctx.Done():
		return refresh, fmt.Errorf("no consent came within %s: %w", consentPatience, ctx.Err())
	}
}

// parseRedirect checks a redirect address: https, or http to this machine.
func parseRedirect(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && u.Fragment == "" && u.User == nil && (isHTTPS(u) || loopbackHTTP(u)) {
		return u, nil
	}
	return nil, fmt.Errorf("--redirect-url %q: expected one of the application's allowed return addresses, like http://localhost:8765/ or https://example.com/adlens", text)
}

// consentWait waits for what the platform answers a consent.
type consentWait struct {
	state   string
	answers chan consentAnswer // the first one counts
}

type consentAnswer struct {
	code string
	err  error
}

var errOtherState = errors.New("it answers another consent than the one that was requested now: its state is not the one of the address that was shown")

// listen takes the browser's request to the redirect address.
func (w *consentWait) listen(redirect *url.URL) (stop func(), err error) {
	hosts := []string{redirect.Hostname()}
	if hosts[0] == "localhost" {
		hosts = []string{"127.0.0.1", "::1"}
	}
	port := redirect.Port()
	if port == "" {
		port = "80"
	}
	server := &http.Server{Handler: w.handler(redirect.Path), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	var failures []error
	var listeners []net.Listener
	for _, host := range hosts {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		listeners = append(listeners, listener)
	}
	// Of two addresses a machine may lack one. Where another program has it, a browser could
	// give that the answer.
	failed := errors.Join(failures...)
	if len(failures) == len(hosts) || errors.Is(failed, syscall.EADDRINUSE) {
		for _, listener := range listeners {
			listener.Close()
		}
		return nil, fmt.Errorf("--redirect-url: it cannot be listened on: %w", failed)
	}
	for _, listener := range listeners {
		go func() { _ = server.Serve(listener) }() // ends with stop
	}
	return func() {
		ending, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // the browser gets its answer first
	}, nil
}

func (w *consentWait) handler(path string) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		status, text := http.StatusOK, "The answer has reached adlens, which goes on at the command line. This page can be closed."
		a := w.read(r.URL.Query())
		switch {
		case r.Method != http.MethodGet || strings.Trim(r.URL.Path, "/") != strings.Trim(path, "/"):
			status, text = http.StatusNotFound, "There is nothing here: adlens waits for a consent at another address."
		case errors.Is(a.err, errOtherState):
			status, text = http.StatusBadRequest, "This is not the consent that adlens waits for. Open the address that it shows."
		default:
			w.take(a)
		}
		response.Header().Set("Content-Type", "text/plain; charset=utf-8")
		response.Header().Set("Cache-Control", "no-store")
		response.Header().Set("Referrer-Policy", "no-referrer")
		response.WriteHeader(status)
		_, _ = io.WriteString(response, text+"\n")
	})
}

// take keeps an answer, unless there are enough of them.
func (w *consentWait) take(a consentAnswer) {
	select {
	case w.answers <- a:
	default:
	}
}

// read reads what the platform adds to the redirect address.
func (w *consentWait) read(query url.Values) (a consentAnswer) {
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(w.state)) != 1 {
		return consentAnswer{err: errOtherState}
	}
	if refused := query.Get("error"); refused != "" {
		return consentAnswer{err: fmt.Errorf("the platform gave no consent: %.100q %.300q; nothing was changed", refused, query.Get("error_description"))}
	}
	if codes := query["code"]; len(codes) != 1 || codes[0] == "" {
		return consentAnswer{err: errors.New("the platform's answer has no code; expected one of a consent")}
	}
	return consentAnswer{code: query.Get("code")}
}

// readPasted takes the first line that is not empty. Where the answer may come by
// itself, the end of what is typed ends nothing.
func (w *consentWait) readPasted(pasted *bufio.Reader, listens bool) {
	for {
		line, err := pasted.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" {
			w.take(w.readText(text))
			return
		}
		if err != nil {
			if !listens {
				w.take(consentAnswer{err: errors.New("no code was typed; paste the address that the browser was sent to, or the code in it")})
			}
			return
		}
	}
}

// readText reads a code, or an address that has one.
func (w *consentWait) readText(text string) consentAnswer {
	if !strings.ContainsAny(text, "?=&") {
		return consentAnswer{code: text}
	}
	_, query, found := strings.Cut(text, "?")
	if !found {
		query = text
	}
	values, err := url.ParseQuery(strings.SplitN(query, "#", 2)[0])
	if err != nil {
		return consentAnswer{err: errors.New("what was pasted is neither a code nor the address that the browser was sent to")}
	}
	return w.read(values)
}
