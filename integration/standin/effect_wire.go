package standin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// Reset does nothing but break the connection, with a reset and not an end.
func Reset() Effect { return Effected(breakOff) }

// ResetAfter lets the platform act, and breaks the connection in place of the
// answer: a report is created, and the client does not learn of it.
func ResetAfter() Effect {
	return Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		breakOff(w, r, next)
	})
}

func breakOff(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, is := connection.(*net.TCPConn); is {
		// What was not sent yet is dropped: that makes it a reset.
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// CutBody announces the whole of the true answer and ends in the middle.
func CutBody() Effect {
	return Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		sendHalf(w, r, next)
		panic(http.ErrAbortHandler)
	})
}

// Stall sends half of the true answer, waits, and then sends the rest.
func Stall(wait time.Duration) Effect {
	return Effect{func(p *Platform, w http.ResponseWriter, r *http.Request, next http.Handler) {
		rest := sendHalf(w, r, next)
		if !p.waitFor(r, wait) {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(rest)
	}}
}

// sendHalf answers with the first half of the body, and returns the second.
func sendHalf(w http.ResponseWriter, r *http.Request, next http.Handler) []byte {
	whole := httptest.NewRecorder()
	next.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	body := whole.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	return body[len(body)/2:]
}

// HugeBody is a JSON text of that many bytes and a few more. It is written as
// it is read, so that it costs the reader more than the platform.
func HugeBody(bytes int64) Effect {
	return Effected(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		filler := []byte(strings.Repeat("x", 64<<10))
		_, err := w.Write([]byte(`["`))
		for sent := int64(0); sent < bytes && err == nil; sent += int64(len(filler)) {
			_, err = w.Write(filler)
		}
		_, _ = w.Write([]byte(`"]`))
	})
}
