package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFailuresThatPassAreTriedAgain(t *testing.T) {
	for name, bad := range map[string]http.HandlerFunc{
		"429":           say(429, `{"message":"slow down"}`),
		"408":           say(408, ``),
		"500":           say(500, ``),
		"502":           say(502, `<html>Bad Gateway</html>`),
		"504":           say(504, ``),
		"reset":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"time-out":      hang,
		"half a body":   cut(`[{"profileId":1}`),
		"HTML with 200": say(200, `<html>maintenance</html>`),
		"other JSON":    say(200, `{"profiles":[]}`),
		"damaged JSON":  say(200, `[{"profileId":`),
		"nothing":       say(204, ``),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script(bad, bad, say(200, `[]`)))
			r.client.limits.callTime = 50 * time.Millisecond
			_, err := r.client.Profiles(ctx)
			r.succeeds(err)
			// Of a reset the standard library makes a try of its own.
			if len(r.calls) != 3 || len(r.sleeps) != 2 && name != "reset" {
				t.Errorf("%d calls, slept %v", len(r.calls), r.sleeps)
			}
		})
	}
}

func TestTriesAreBoundedAndWaitsGrow(t *testing.T) {
	r := newRig(t, say(503, `{"message":"down `+canaryAccess+`-1","requestId":"R1"}`))
	_, err := r.client.Profiles(ctx)
	r.fails(err, Unavailable, "GET /v2/profiles", "503", "down ***", "request R1", "after 5 tries")
	if len(r.calls) != 5 || len(r.sleeps) != 4 {
		t.Fatalf("%d calls, slept %v", len(r.calls), r.sleeps)
	}
	for i, slept := range r.sleeps {
		if mean := time.Second << i; slept < mean/2 || slept > mean*3/2 {
			t.Errorf("wait %d was %v, expected about %v", i+1, slept, mean)
		}
	}
}

func TestRefusalsAreNotTriedAgain(t *testing.T) {
	for status := 400; status < 430; status++ {
		if status == 401 || status == 408 || status == 429 {
			continue
		}
		r := newRig(t, say(status, `{"code":"x","detail":"no"}`))
		_, err := r.client.Profiles(ctx)
		r.fails(err, Refused, "no")
		if len(r.calls) != 1 {
			t.Errorf("%d was called %d times", status, len(r.calls))
		}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name, after, date string
		status            int
		low, high         time.Duration
	}{
		{"seconds", "120", "", 429, 2 * time.Minute, 132 * time.Second},
		{"of a 503", "120", "", 503, 2 * time.Minute, 132 * time.Second},
		{"a date", date(time.Minute), date(0), 429, time.Minute, 66 * time.Second},
		{"a date of a clock that is ahead", date(61 * time.Minute), date(time.Hour), 429, time.Minute, 66 * time.Second},
		{"far too long", "86400", "", 429, 30 * time.Minute, 30 * time.Minute},
		{"beyond all numbers", "99999999999999999999999999", "", 429, 30 * time.Minute, 30 * time.Minute},
		{"absent", "", "", 429, 5 * time.Second, 15 * time.Second},
		{"zero", "0", "", 429, 5 * time.Second, 15 * time.Second},
		{"negative", "-5", "", 429, 5 * time.Second, 15 * time.Second},
		{"past", date(-time.Hour), date(0), 429, 5 * time.Second, 15 * time.Second},
		{"senseless", "soon", "", 429, 5 * time.Second, 15 * time.Second},
		{"not a number", "NaN", "", 429, 5 * time.Second, 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"Retry-After", c.after}
			if c.date != "" {
				headers = append(headers, "Date", c.date)
			}
			r := newRig(t, script(say(c.status, ``, headers...), say(200, `[]`)))
			_, err := r.client.Profiles(ctx)
			r.succeeds(err)
			r.slept(t, c.low, c.high)
		})
	}
}

func TestRetryAfterReadsOurClockWhereTheAnswerHasNone(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	header := http.Header{"Retry-After": {now.Add(time.Minute).Format(http.TimeFormat)}}
	if got := retryAfter(header, now, time.Hour); got != time.Minute {
		t.Errorf("got %v", got)
	}
}

func TestThrottlingWithoutATimeWaitsLongerAndLonger(t *testing.T) {
	r := newRig(t, say(429, ``))
	_, err := r.client.Profiles(ctx)
	r.fails(err, Unavailable, "429", "Too Many Requests")
	mean := 10 * time.Second
	for _, slept := range r.sleeps {
		if slept < mean/2 || slept > mean*3/2 {
			t.Errorf("slept %v, expected about %v", slept, mean)
		}
		mean *= 3
	}
}

func TestEachCauseHasItsOwnPatience(t *testing.T) {
	r := newRig(t, script(say(500, ``), say(502, ``), say(429, ``), say(500, ``), say(429, ``)))
	_, err := r.client.Profiles(ctx)
	r.fails(err, Unavailable, "429", "after 5 tries")
	for i, mean := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, 4 * time.Second} {
		if slept := r.sleeps[i]; slept < mean/2 || slept > mean*3/2 {
			t.Errorf("wait %d was %v, expected about %v", i+1, slept, mean)
		}
	}
}

func TestNoWaitIsLongerThanHalfAnHour(t *testing.T) {
	r := newRig(t, say(200, ``))
	for try := range 200 {
		for range 20 {
			if wait := r.client.backoffWait(10*time.Second, 3, try+1); wait > 30*time.Minute || wait <= 0 {
				t.Fatalf("try %d waits %v", try, wait)
			}
		}
	}
}

func TestTheCallersEndStopsTheTries(t *testing.T) {
	stop, cancel := context.WithCancel(ctx)
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(500)
	})
	_, err := r.client.Profiles(stop)
	r.errors = append(r.errors, err)
	if !errors.Is(err, context.Canceled) || len(r.calls) != 1 || len(r.sleeps) != 0 {
		t.Errorf("%v after %d calls", err, len(r.calls))
	}
	if _, err := r.client.Profiles(stop); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTheEndDuringAWaitSaysWhatStoodInTheWay(t *testing.T) {
	stop, cancel := context.WithCancel(ctx)
	r := newRig(t, say(500, `{"message":"broken"}`))
	r.client.cfg.Sleep = func(context.Context, time.Duration) error { cancel(); return stop.Err() }
	_, err := r.client.Profiles(stop)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "broken") {
		t.Error(err)
	}
}

func TestTheUsualSleepEndsWithItsContext(t *testing.T) {
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if err := Sleep(stop, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Sleep(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
}

func TestRefusalsBecomeOneSentence(t *testing.T) {
	for name, c := range map[string]struct{ body, header, want string }{
		"reporting":      {`{"code":"400","detail":"range too long"}`, "", "GET /v2/profiles: the platform answered 400: range too long"},
		"general":        {`{"code":"400","details":"no access","requestId":"ABC"}`, "", "answered 400: no access (request ABC)"},
		"gateway":        {`{"message":"Unauthorized exception"}`, "H1", "answered 400: Unauthorized exception (request H1)"},
		"details a list": {`{"details":["a","b"]}`, "", `answered 400: ["a","b"]`},
		"errors a list":  {`{"errors":[{"message":"x"}]}`, "", `answered 400: [{"message":"x"}]`},
		"empty detail":   {`{"detail":"","message":"m"}`, "", "answered 400: m"},
		"HTML":           {`<html>no</html>`, "", "answered 400: it begins <html>no</html>"},
		"nothing":        {``, "", "answered 400: Bad Request"},
		"controls":       {"{\"detail\":\"a\\u001b[2Jb\\nc\"}", "", "answered 400: a [2Jb c"},
		"echo":           {`{"detail":"bad token ` + canaryAccess + `-1 of ` + canarySecret + ` ` + canaryRefresh + `"}`, "", "answered 400: bad token *** of *** ***"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, say(400, c.body, "X-Amzn-Requestid", c.header))
			_, err := r.client.Profiles(ctx)
			r.fails(err, Refused)
			if !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %q, expected it to end with %q", err, c.want)
			}
		})
	}
}

func TestALongRefusalIsCut(t *testing.T) {
	r := newRig(t, say(400, `{"detail":"`+strings.Repeat("x", 1<<20)+`"}`, "X-Amzn-Requestid", strings.Repeat("y", 5000)))
	_, err := r.client.Profiles(ctx)
	r.fails(err, Refused)
	if len(err.Error()) > 700 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestAWrongAnswerIsNamedByItsBeginning(t *testing.T) {
	page := `<html><body>` + strings.Repeat("sorry ", 100)
	r := newRig(t, say(200, page))
	_, err := r.client.Profiles(ctx)
	r.fails(err, BadAnswer, `it begins "`+page[:80]+`..."`, "after 5 tries")
	if len(r.calls) != 5 {
		t.Errorf("%d calls", len(r.calls))
	}
	secret := strings.Repeat("x", 70) + canaryAccess + "-1"
	r = newRig(t, say(200, secret))
	_, err = r.client.Profiles(ctx)
	r.fails(err, BadAnswer, "x***")
}

func TestAnEndlessAnswerIsRefusedOnce(t *testing.T) {
	r := newRig(t, say(200, `["`+strings.Repeat("x", 4096)+`"]`))
	r.client.limits.answer = 1024
	_, err := r.client.Profiles(ctx)
	r.fails(err, TooLarge, "more than 1024 bytes")
	if len(r.calls) != 1 {
		t.Errorf("%d calls", len(r.calls))
	}
}
