package standin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// The most of a request's body that is read: no call of the platform is near.
const largestBody = 8 << 20

// query is a call on its way to its answer. Profile and grant are set once the
// headers have been checked.
type query struct {
	*http.Request
	body    []byte
	region  Region
	grant   Grant
	profile Profile
	quirk   quirk
}

// reply is an answer to be written: body is JSON-encoded unless it is bytes.
type reply struct {
	status int
	media  string
	header map[string]string
	body   any
}

type handler func(*query) reply

// endpointHandler makes a handler of the web from one of the platform: it records the
// call, lets a fault take its course, and writes the answer.
func (p *Platform) endpointHandler(endpoint Endpoint, region Region, handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, largestBody))
		noted := &statusWriter{ResponseWriter: w}
		number := p.calls.addCall(newCall(endpoint, region, r, body, p.config.Now()))
		defer func() { p.calls.endCall(number, noted.status) }()

		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := &query{Request: r, body: body, region: region, quirk: quirkOf(r.Context())}
			handle(q).writeTo(w)
		})
		r.Body = io.NopCloser(bytes.NewReader(body))
		if effect, found := p.faults.nextEffect(p.calls.callAt(number)); found {
			effect.serve(p, noted, r, next)
			return
		}
		next.ServeHTTP(noted, r)
	})
}

func (a reply) writeTo(w http.ResponseWriter) {
	content, raw := a.body.([]byte)
	if !raw {
		content, _ = json.Marshal(a.body)
	}
	if a.media == "" {
		a.media = "application/json"
	}
	w.Header().Set("Content-Type", a.media)
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	// A client that has gone away has its own record of it.
	_, _ = w.Write(content)
}

// statusWriter remembers the status; 0 is an answer that never came.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
