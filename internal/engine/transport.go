package engine

import (
	"io"
	"net/http"
)

// CloseRefused returns a transport that closes the connection of a request that
// the engine refused. The driver forgets such a connection without closing it,
// and an engine that is told to stop waits five seconds for its clients'
// connections. The error is always nil.
func CloseRefused(t *http.Transport) (http.RoundTripper, error) { return closingTransport{t}, nil }

type closingTransport struct{ *http.Transport }

// RoundTrip sends a request.
func (t closingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusOK {
		res.Body = closingBody{res.Body, t.Transport}
	}
	return res, err
}

// closingBody is the body of a refusal.
type closingBody struct {
	io.ReadCloser
	transport *http.Transport
}

// Close closes the connection with the body.
func (b closingBody) Close() error {
	err := b.ReadCloser.Close()
	b.transport.CloseIdleConnections()
	return err
}
