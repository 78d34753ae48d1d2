package standin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Redacted stands in a Call where a secret was sent.
const Redacted = "redacted"

// Call is one recorded call.
type Call struct {
	Endpoint Endpoint
	Region   Region // "" away from the API hosts
	Method   string
	Path     string
	Query    url.Values // without the signature of a file's address
	Header   http.Header
	Body     string
	Time     time.Time
	// Status is the answer's; 0 while there is none and where none came.
	Status int
	// Authorized says that an Authorization header was sent, and to whom it
	// must not be is for the test to judge.
	Authorized bool
}

// Scope is the profile that the call names, "" for none.
func (c Call) Scope() string { return c.Header.Get(scopeHeader) }

// calls is the record. Its entries are in the order of arrival.
type calls struct {
	mu  sync.Mutex
	all []Call
}

func (c *calls) addCall(call Call) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, call)
	return len(c.all) - 1
}

func (c *calls) callAt(number int) Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[number]
}

func (c *calls) endCall(number, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[number].Status = status
}

// Calls counts the calls of one endpoint, or of Any, faulty ones included.
func (p *Platform) Calls(endpoint Endpoint) int { return len(p.Recorded(endpoint)) }

// Recorded lists the calls of one endpoint, or of Any, oldest first.
func (p *Platform) Recorded(endpoint Endpoint) []Call {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.calls.all), func(c Call) bool {
		return endpoint != Any && c.Endpoint != endpoint
	})
}

func newCall(endpoint Endpoint, region Region, r *http.Request, body []byte, now time.Time) Call {
	call := Call{
		Endpoint: endpoint, Region: region, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: string(body), Time: now,
		Authorized: r.Header.Get("Authorization") != "",
	}
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
		if call.Header.Get(name) != "" {
			call.Header.Set(name, Redacted)
		}
	}
	redactFields(call.Query)
	switch {
	case strings.HasPrefix(r.Header.Get("Content-Type"), formMedia):
		call.Body = withoutSecrets(call.Body)
	case endpoint == Token && call.Body != "":
		// Secrets in a form that was not expected are secrets still.
		call.Body = Redacted
	}
	return call
}

func withoutSecrets(form string) string {
	fields, err := url.ParseQuery(form)
	if err != nil {
		return Redacted
	}
	redactFields(fields)
	return fields.Encode()
}

func redactFields(fields url.Values) {
	for _, name := range []string{"client_secret", "refresh_token", "code", signatureField} {
		if fields.Has(name) {
			fields.Set(name, Redacted)
		}
	}
}
