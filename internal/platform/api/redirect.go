package api

import (
	"net/http"
	"net/url"
)

// maxRedirects is how often a download may be sent on within its host.
const maxRedirects = 3

// noRedirect shows a redirect as the answer that it is. The API has no
// redirects; following one would carry the token to a place that the answer
// chose.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// sameHostOnly follows redirects that stay where the download is.
func sameHostOnly(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	if len(before) > maxRedirects || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// redirectReason names where an answer wanted to send the client: the host alone,
// because the rest may hold a credential.
func redirectReason(header http.Header) string {
	if u, err := url.Parse(header.Get("Location")); err == nil && u.Host != "" {
		return "it redirects to " + u.Host + ", which is not followed"
	}
	return "it redirects, which is not followed"
}
