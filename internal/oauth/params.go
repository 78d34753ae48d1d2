package oauth

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"adlens"
)

// params are the parameters of a request, each once.
type params map[string]string

// parseParams parses a query or a form. A parameter that is given twice is
// refused (RFC 6749, section 3.1): two programs might believe different ones. An
// empty one counts as absent.
func parseParams(text string) (params, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, errors.New("the parameters are not in the form a=b&c=d with percent encoding")
	}
	p := params{}
	for name, all := range values {
		if len(all) > 1 {
			return nil, fmt.Errorf("parameter %s is given %d times, expected once", adlens.CleanText(name, 50), len(all))
		}
		if all[0] != "" {
			p[name] = all[0]
		}
	}
	return p, nil
}

// errTooLarge reports a body beyond its bound.
var errTooLarge = errors.New("the body is too large")

// readBody reads a body of a media type, up to a bound.
func readBody(w http.ResponseWriter, r *http.Request, mediaType string, most int64) (string, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != mediaType || len(r.Header.Values("Content-Type")) > 1 {
		return "", fmt.Errorf("expected one header Content-Type: %s", mediaType)
	}
	if r.Header.Get("Content-Encoding") != "" {
		return "", errors.New("a body with a Content-Encoding is not taken")
	}
	if r.ContentLength > most {
		return "", fmt.Errorf("%w: %d bytes, at most %d are taken", errTooLarge, r.ContentLength, most)
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var beyond *http.MaxBytesError
	if errors.As(err, &beyond) {
		return "", fmt.Errorf("%w: at most %d bytes are taken", errTooLarge, most)
	}
	return string(text), err
}

// readForm reads the parameters of a form. The address must have none: it is
// logged in many places.
func readForm(w http.ResponseWriter, r *http.Request, most int64) (params, error) {
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		return nil, errors.New("parameters belong into the body: the address is logged in many places, so revoke what it held")
	}
	text, err := readBody(w, r, "application/x-www-form-urlencoded", most)
	if err != nil {
		return nil, err
	}
	return parseParams(text)
}

// statusOf returns the status of an error of readBody or readForm.
func statusOf(err error) int {
	if errors.Is(err, errTooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}
