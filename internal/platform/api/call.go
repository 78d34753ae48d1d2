package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
)

// call is one call of the API.
type call struct {
	method, path string
	query        url.Values
	profileID    string // "" where the call is not about one
	sends        string // media type of the body
	accepts      string // media type of the answer
	body         []byte
	also         int                     // a status that read understands beside a success; 0 for none
	read         func(body []byte) error // takes the answer; an error says that it is not what was requested
	// readHeader takes the place of read where the answer is a redirect.
	readHeader func(http.Header) error
}

func (r *call) callName() string { return r.method + " " + r.path }

// idForm is what may be a profile's or an entity's id.
var idForm = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

func checkProfile(profileID string) error {
	if !idForm.MatchString(profileID) {
		return &Error{Kind: Invalid, Reason: "a profile's id is 1 to 64 letters, digits, _ and -"}
	}
	return nil
}

// sendCall makes a call until it is answered well, is refused, or the tries are
// used up.
func (c *Client) sendCall(ctx context.Context, r *call) error {
	var renewed bool // a token is renewed once a call, or a refused profile would make us hammer
	return c.retryCall(ctx, r.callName(), func() error {
		a, err := c.sendAuthorized(ctx, r, &renewed)
		if err != nil {
			return err
		}
		if a.status != r.also {
			if err := c.answerError(r.callName(), a); err != nil {
				return addProfileHint(r, err)
			}
		}
		read := func() error { return r.read(a.body) }
		if r.readHeader != nil {
			read = func() error { return r.readHeader(a.header) }
		}
		if err := read(); err != nil {
			return c.unreadableAnswer(r.callName(), a, err)
		}
		return nil
	})
}

// unreadableAnswer is the error of an answer that read refused: what it is without read,
// or a bad answer, after which the next try may bring a better one.
func (c *Client) unreadableAnswer(name string, a *answer, err error) error {
	if refused := c.answerError(name, a); refused != nil {
		return refused
	}
	return &again{err: c.badAnswer(name, a, err)}
}

// sendAuthorized makes one exchange with a good token. A token that the platform
// no longer takes is renewed once; a refusal after that is about the profile,
// or, where there is none, about the connection itself.
func (c *Client) sendAuthorized(ctx context.Context, r *call, renewed *bool) (*answer, error) {
	token, err := c.tokens.getToken(ctx, nil)
	if err != nil {
		return nil, err
	}
	a, err := c.doRequest(ctx, r.callName(), c.apiRequest(r, token))
	if err != nil || a.status != http.StatusUnauthorized {
		return a, err
	}
	if !*renewed {
		*renewed = true
		if token, err = c.tokens.getToken(ctx, token); err != nil {
			return nil, err
		}
		if a, err = c.doRequest(ctx, r.callName(), c.apiRequest(r, token)); err != nil || a.status != http.StatusUnauthorized {
			return a, err
		}
	}
	if r.profileID != "" {
		e := c.refusalError(Closed, r.callName(), a)
		e.Reason += "; profile " + r.profileID + " is not open" + reconnectProfile
		return nil, e
	}
	return nil, addReconnectHint(c.refusalError(Unauthorized, r.callName(), a))
}

const reconnectProfile = " to the stored connection, if it should be, run `adlens connect` again"

// addProfileHint adds the way out to a call that the platform forbids: it may be about the
// profile, or about this call alone.
func addProfileHint(r *call, err error) error {
	if e, ok := err.(*Error); ok && e.Status == http.StatusForbidden && r.profileID != "" {
		e.Reason += "; profile " + r.profileID + " may not be open" + reconnectProfile
	}
	return err
}

// addReconnectHint adds the way out to a refused connection.
func addReconnectHint(e *Error) *Error {
	e.Reason += "; the stored connection is not accepted, run `adlens connect` again"
	return e
}

func (c *Client) apiRequest(r *call, token *token) *http.Request {
	u := *c.base
	u.Path += r.path
	u.RawQuery = r.query.Encode()
	request := &http.Request{Method: r.method, URL: &u, Host: u.Host, Header: http.Header{}}
	if r.body != nil {
		request.Body = io.NopCloser(bytes.NewReader(r.body))
		request.ContentLength = int64(len(r.body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.body)), nil }
		request.Header.Set("Content-Type", r.sends)
	}
	request.Header.Set("Accept", r.accepts)
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Authorization", "Bearer "+token.text.Reveal())
	request.Header.Set("Amazon-Advertising-API-ClientId", c.cfg.ClientID)
	if r.profileID != "" {
		request.Header.Set("Amazon-Advertising-API-Scope", r.profileID)
	}
	return request
}

const userAgent = "adlens"
