package standin

import (
	"net/http"
	"time"
)

// Answer replaces the answer. Headers come as name, value.
func Answer(status int, media, body string, headers ...string) Effect {
	answer := reply{status: status, media: media, body: []byte(body), header: map[string]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		answer.header[headers[i]] = headers[i+1]
	}
	return Effected(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer.writeTo(w) })
}

// Error answers with an error in one of the platform's shapes.
func Error(status int, shape Shape, text string) Effect {
	answer := refuseCall(status, shape, "%s", text)
	return Effected(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer.writeTo(w) })
}

// ExpiredToken is the gateway's 401 for a token that has run out.
func ExpiredToken() Effect { return Error(http.StatusUnauthorized, Message, invalidToken) }

// Throttled is a 429, with Retry-After where it is not empty: seconds, or a date.
func Throttled(retryAfter string) Effect {
	answer := refuseCall(http.StatusTooManyRequests, Details, "Too Many Requests")
	if retryAfter != "" {
		answer.header = map[string]string{"Retry-After": retryAfter}
	}
	return Effected(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer.writeTo(w) })
}

// ServerError is a 500, 502 or 504 of the platform.
func ServerError(status int) Effect { return Error(status, Details, http.StatusText(status)) }

// HTML is a web page with status 200, as a proxy between might send.
func HTML() Effect {
	return Answer(http.StatusOK, "text/html; charset=utf-8", "<!doctype html><title>Sorry</title><p>Something went wrong on our end.")
}

// WrongJSON is an answer that begins as JSON, and is whole by HTTP.
func WrongJSON() Effect {
	return Answer(http.StatusOK, "application/json", `{"campaigns":[{"campaignId":"1","name":`)
}

// RedirectAbroad sends the call to ForeignURL with 307, which keeps method and
// body. Whether credentials followed is in Recorded(Foreign).
func RedirectAbroad() Effect {
	return Effect{func(p *Platform, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Location", p.ForeignURL()+r.URL.RequestURI())
		w.WriteHeader(http.StatusTemporaryRedirect)
	}}
}

// Slow holds the true answer back for a time, unless the client or the
// platform goes away before.
func Slow(wait time.Duration) Effect {
	return Effect{func(p *Platform, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if p.waitFor(r, wait) {
			next.ServeHTTP(w, r)
		}
	}}
}

// waitFor reports whether the wait came to its end.
func (p *Platform) waitFor(r *http.Request, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-p.closing:
	}
	return false
}
