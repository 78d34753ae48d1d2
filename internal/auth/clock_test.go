package auth

import (
	"testing"
	"time"
	"unsafe"

	"adlens"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clock has two hands, as the machine's: a wall clock that can be set, and a
// monotonic one that cannot.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{now: time.Now()} }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

// set moves the wall clock alone by whole seconds. No function of package
// time does so; the wall seconds are the bits from 30 on of a Time's first
// word (TestTheClockOfTheseTestsHasTwoHands notices when that changes).
func (c *clock) set(d time.Duration) {
	*(*uint64)(unsafe.Pointer(&c.now)) += uint64(d/time.Second) << 30
}

// setTo moves the wall clock to an hour of a day, counted from its own.
func (c *clock) setTo(days, hour int) {
	midnight := (utcDay(c.now) + adlens.Day(days)).Time()
	wall := c.now.Round(0).UTC().Truncate(time.Second)
	c.set(midnight.Add(time.Duration(hour) * time.Hour).Sub(wall))
}

func TestTheClockOfTheseTestsHasTwoHands(t *testing.T) {
	c := newClock()
	before := c.now
	c.set(-3 * time.Hour)
	if mono, wall := c.now.Sub(before), c.now.Round(0).Sub(before.Round(0)); mono != 0 || wall != -3*time.Hour {
		t.Fatalf("the monotonic clock moved by %s, the wall clock by %s", mono, wall)
	}
	c.setTo(1, 5)
	if got := c.now.UTC(); got.Hour() != 5 || got.Minute() != 0 || c.now.Sub(before) != 0 {
		t.Fatalf("it is %s", got)
	}
}

func TestSettingTheWallClockDoesNotMoveTheMinute(t *testing.T) {
	for _, step := range []time.Duration{time.Minute, 24 * time.Hour, -time.Minute, -24 * time.Hour} {
		c, l := newClock(), NewLimiter(1, 0)
		l.Allow("a", c.now)
		c.set(step)
		if d := l.Allow("a", c.now); d.Allowed || d.RetryAfter != time.Minute {
			t.Errorf("%s: %+v", step, d)
		}
		c.pass(time.Minute)
		if !l.Allow("a", c.now).Allowed {
			t.Errorf("%s: refused after a minute", step)
		}
	}
}

func TestADayIsNotUsedUpTwiceWhenTheWallClockIsSetBack(t *testing.T) {
	c, l := newClock(), NewLimiter(0, 1)
	c.setTo(0, 1)
	l.Allow("a", c.now)
	for _, back := range []int{-1, 1, -1} { // to yesterday, to tonight, to yesterday again
		c.setTo(min(back, 0), 23)
		if d := l.Allow("a", c.now); d.Allowed {
			t.Errorf("a second call of the day was let in at %s", c.now)
		}
	}
}

func TestAnAccountThatWasSweptCannotUseItsDayTwice(t *testing.T) {
	c, l := newClock(), NewLimiter(60, 1)
	c.setTo(0, 23)
	l.Allow("a", c.now)
	c.pass(2 * time.Hour)
	l.Allow("b", c.now) // sweeps, on the next day
	c.set(-3 * time.Hour)
	if d := l.Allow("a", c.now); d.Allowed {
		t.Errorf("a second call of the day was let in: %+v", d)
	}
}

// A machine may start with a clock that is years ahead, until it finds its
// time server.
func TestAClockThatWasYearsAheadDoesNotLockOutForYears(t *testing.T) {
	c, l := newClock(), NewLimiter(0, 1)
	c.setTo(0, 12)
	c.set(3650 * 24 * time.Hour)
	l.Allow("a", c.now)
	c.pass(time.Hour)
	c.set(-3650 * 24 * time.Hour)
	refused := l.Allow("a", c.now)
	if refused.Allowed || refused.RetryAfter != 23*time.Hour {
		t.Fatalf("got %+v", refused)
	}
	c.pass(refused.RetryAfter)
	if d := l.Allow("a", c.now); !d.Allowed {
		t.Errorf("got %+v", d)
	}
}

// A clock set back by more than a day, and a client that does not come back
// at the promised hour but later, on the counter's day.
func TestTheDayThatEndedUnseenHasEnded(t *testing.T) {
	c, l := newClock(), NewLimiter(0, 1)
	c.setTo(0, 1)
	l.Allow("a", c.now)
	c.pass(22 * time.Hour)
	c.set(-30 * time.Hour)
	refused := l.Allow("a", c.now)
	if refused.Allowed || refused.RetryAfter != 2*time.Hour {
		t.Fatalf("got %+v", refused)
	}
	c.pass(12 * time.Hour)
	if d := l.Allow("a", c.now); !d.Allowed {
		t.Errorf("got %+v", d)
	}
}

func TestWaitingRetryAfterLetsInHoweverTheClockWasSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, l := newClock(), NewLimiter(rapid.IntRange(0, 3).Draw(t, "minute"), rapid.IntRange(1, 5).Draw(t, "day"))
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			c.pass(pauses.Draw(t, "pause"))
			c.set(steps.Draw(t, "step"))
			d := l.Allow("a", c.now)
			if d.Allowed {
				continue
			}
			if d.RetryAfter <= 0 {
				t.Fatalf("refused, to be let in at once: %+v", d)
			}
			c.pass(d.RetryAfter + pauses.Draw(t, "late"))
			if retry := l.Allow("a", c.now); !retry.Allowed {
				t.Fatalf("refused for %s, then %+v", d.RetryAfter, retry)
			}
		}
	})
}

var steps = rapid.OneOf(
	rapid.Just(time.Duration(0)),
	rapid.Map(rapid.IntRange(-100, 100), func(hours int) time.Duration { return time.Duration(hours) * time.Hour }),
	rapid.Map(rapid.IntRange(-5, 5), func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }),
)

// While the wall clock is set back by less than a day in all, each day of the
// calendar is used up once: a call counts on the latest day seen.
func TestEachDayHasItsQuotaOnceHoweverTheClockIsSetBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const quota = 3
		c, l := newClock(), NewLimiter(0, quota)
		latest, in, left := adlens.Day(0), map[adlens.Day]int{}, 24*60*60-1
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			c.pass(pauses.Draw(t, "pause"))
			back := rapid.IntRange(0, min(left, 6*60*60)).Draw(t, "seconds back")
			left -= back
			c.set(-time.Duration(back) * time.Second)
			latest = max(latest, utcDay(c.now))
			got := l.Allow("a", c.now).Allowed
			if want := in[latest] < quota; got != want {
				t.Fatalf("at %s, counted on %s with %d calls: allowed is %t", c.now.UTC(), latest, in[latest], got)
			}
			if got {
				in[latest]++
			}
		}
	})
}

func TestTimesWithoutAMonotonicReadingAreTakenByTheWall(t *testing.T) {
	l := NewLimiter(1, 2)
	var got []bool
	for _, after := range []time.Duration{0, time.Minute, 2 * time.Minute, 12 * time.Hour} {
		got = append(got, l.Allow("a", noon.Add(after)).Allowed)
	}
	if diff := cmp.Diff([]bool{true, true, false, true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
