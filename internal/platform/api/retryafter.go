package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long an answer asks to wait: seconds or a date. It is
// 0 where the header is absent, senseless or in the past. A date is read by the
// answer's own clock where that is given, because ours may be wrong.
func retryAfter(header http.Header, now time.Time, longest time.Duration) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return clampDuration(seconds*float64(time.Second), longest)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return clampDuration(float64(at.Sub(now)), longest)
}

// clampDuration turns a wish of any size, not-a-number included, into 0 to longest.
func clampDuration(wish float64, longest time.Duration) time.Duration {
	switch {
	case wish > float64(longest):
		return longest
	case wish > 0:
		return time.Duration(wish)
	default:
		return 0
	}
}
