package auth

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTheSixtyFirstCallOfAMinuteIsRefused(t *testing.T) {
	l := NewLimiter(60, 10_000)
	for i := range 60 {
		if d := l.Allow("acme", at(i/2)); !d.Allowed {
			t.Fatalf("call %d: %+v", i+1, d)
		}
	}
	got := l.Allow("acme", at(30))
	want := Decision{Limit: "minute", RetryAfter: 30 * time.Second, Windows: []Window{
		{Name: "minute", Quota: 60, WindowSeconds: 60, Remaining: 0, ResetSeconds: 30},
		{Name: "day", Quota: 10_000, WindowSeconds: 86_400, Remaining: 9940, ResetSeconds: 12*3600 - 30},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestABurstAroundTheTurnOfAMinuteLetsNobodyIn(t *testing.T) {
	l := NewLimiter(60, 0)
	for range 60 {
		l.Allow("acme", at(59))
	}
	for _, s := range []int{59, 60, 61, 100, 118} {
		if l.Allow("acme", at(s)).Allowed {
			t.Errorf("a call was let in %d s after 60 others", s-59)
		}
	}
	if !l.Allow("acme", at(119)).Allowed {
		t.Error("60 seconds later none is let in")
	}
}

func TestRefusedCallsDoNotCount(t *testing.T) {
	l := NewLimiter(2, 3)
	want := []bool{true, true, false, false, false, true, false, false}
	var got []bool
	for _, s := range []int{0, 1, 2, 30, 59, 60, 61, 7200} {
		got = append(got, l.Allow("acme", at(s)).Allowed)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheDayEndsAtMidnightUTCWhateverTheZoneOfTheClock(t *testing.T) {
	tokyo := time.FixedZone("Tokyo", 9*3600)
	for _, zone := range []*time.Location{time.UTC, tokyo} {
		l := NewLimiter(0, 2)
		late := time.Date(2026, 11, 20, 23, 59, 59, 500_000_000, time.UTC).In(zone)
		l.Allow("acme", late)
		l.Allow("acme", late)
		want := Decision{Limit: "day", RetryAfter: 500 * time.Millisecond, Windows: []Window{
			{Name: "day", Quota: 2, WindowSeconds: 86_400, Remaining: 0, ResetSeconds: 1},
		}}
		if diff := cmp.Diff(want, l.Allow("acme", late)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", zone, diff)
		}
		if d := l.Allow("acme", late.Add(500*time.Millisecond)); !d.Allowed || d.Windows[0].Remaining != 1 {
			t.Errorf("%s, after midnight: %+v", zone, d)
		}
	}
}

func TestTheLongerWaitOfBothLimitsIsTheOneToWait(t *testing.T) {
	l := NewLimiter(1, 1)
	l.Allow("acme", noon)
	if d := l.Allow("acme", at(1)); d.Limit != "day" || d.RetryAfter != 12*time.Hour-time.Second {
		t.Errorf("at noon: %+v", d)
	}
	l = NewLimiter(1, 1)
	midnight := noon.Add(12 * time.Hour)
	l.Allow("acme", midnight.Add(-10*time.Second))
	if d := l.Allow("acme", midnight.Add(-5*time.Second)); d.Limit != "minute" || d.RetryAfter != 55*time.Second {
		t.Errorf("before midnight: %+v", d)
	}
}

func TestALimitOfZeroIsOffAndLeftOut(t *testing.T) {
	for _, c := range []struct {
		minute, day int
		want        []string
	}{
		{60, 10_000, []string{"minute", "day"}}, {60, 0, []string{"minute"}}, {0, 10_000, []string{"day"}}, {0, 0, nil},
	} {
		var got []string
		for _, w := range NewLimiter(c.minute, c.day).Allow("acme", noon).Windows {
			got = append(got, w.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d, %d (-want +got):\n%s", c.minute, c.day, diff)
		}
	}
	off := NewLimiter(0, 0)
	for range 20_000 {
		if !off.Allow("acme", noon).Allowed {
			t.Fatal("refused with both limits off")
		}
	}
}

func TestAnUnusedMinuteNeedsNoReset(t *testing.T) {
	l := NewLimiter(60, 1)
	l.Allow("acme", noon)
	got := l.Allow("acme", at(3600)).Windows[0]
	if want := (Window{Name: "minute", Quota: 60, WindowSeconds: 60, Remaining: 60}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestAccountsDoNotShareTheirLimits(t *testing.T) {
	l := NewLimiter(1, 1)
	for _, account := range []string{"acme", "", "ACME", "zenith"} {
		if !l.Allow(account, noon).Allowed {
			t.Errorf("%q was refused", account)
		}
	}
}

// naive keeps all calls that were let in, for ever, and counts them again.
type naive struct {
	minute, day int
	in          []time.Time
}

func (n *naive) allow(now time.Time) bool {
	minute, day := 0, 0
	for _, t := range n.in {
		if now.Sub(t) < time.Minute {
			minute++
		}
		if t.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
			day++
		}
	}
	allowed := (n.minute == 0 || minute < n.minute) && (n.day == 0 || day < n.day)
	if allowed {
		n.in = append(n.in, now)
	}
	return allowed
}

// Pauses are of the sizes that matter: inside a burst, around a minute, to
// the day's end.
var pauses = rapid.OneOf(
	rapid.Just(time.Duration(0)),
	rapid.Map(rapid.Int64Range(0, int64(5*time.Second)), func(n int64) time.Duration { return time.Duration(n) }),
	rapid.SampledFrom([]time.Duration{1, time.Second, time.Minute - 1, time.Minute, time.Minute + 1, 12 * time.Hour, 24 * time.Hour}),
	rapid.Map(rapid.Int64Range(0, int64(30*time.Hour)), func(n int64) time.Duration { return time.Duration(n) }),
)

func TestTheLimiterDecidesLikeANaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute, day := rapid.IntRange(0, 5).Draw(t, "minute"), rapid.IntRange(0, 9).Draw(t, "day")
		l, now := NewLimiter(minute, day), noon
		accounts := map[string]*naive{"a": {minute: minute, day: day}, "b": {minute: minute, day: day}}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(pauses.Draw(t, "pause"))
			account := rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "account")
			got := l.Allow(account, now)
			if want := accounts[account].allow(now); got.Allowed != want {
				t.Fatalf("%s at %s: got %+v", account, now, got)
			}
			checkDecision(t, got)
		}
		mustHoldInAnyMinute(t, accounts["a"].in, minute)
	})
}

func TestWaitingRetryAfterAlwaysLetsInAndNothingEarlierDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, now := NewLimiter(rapid.IntRange(1, 4).Draw(t, "minute"), rapid.IntRange(1, 9).Draw(t, "day")), noon
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			now = now.Add(pauses.Draw(t, "pause"))
			refused := l.Allow("a", now)
			if refused.Allowed {
				continue
			}
			if early := l.Allow("a", now.Add(refused.RetryAfter-1)); early.Allowed {
				t.Fatalf("let in before %s", refused.RetryAfter)
			}
			now = now.Add(refused.RetryAfter)
			if retry := l.Allow("a", now); !retry.Allowed {
				t.Fatalf("refused for %s, then %+v", refused.RetryAfter, retry)
			}
		}
	})
}

func checkDecision(t *rapid.T, d Decision) {
	if d.Allowed != (d.Limit == "") || d.Allowed != (d.RetryAfter == 0) || d.RetryAfter < 0 {
		t.Fatalf("not of one mind: %+v", d)
	}
	for _, w := range d.Windows {
		if w.Remaining < 0 || w.Remaining > w.Quota || w.ResetSeconds < 0 || w.ResetSeconds > w.WindowSeconds {
			t.Fatalf("impossible window: %+v", w)
		}
		if w.Name == d.Limit && (w.Remaining != 0 || w.ResetSeconds != WholeSeconds(d.RetryAfter)) {
			t.Fatalf("the refusing window says otherwise: %+v", d)
		}
	}
}

func mustHoldInAnyMinute(t *rapid.T, in []time.Time, quota int) {
	for i := range in {
		if quota > 0 && i >= quota && in[i].Sub(in[i-quota]) < time.Minute {
			t.Fatalf("%d calls between %s and %s", quota+1, in[i-quota], in[i])
		}
	}
}

func TestManyAtOnceGetExactlyTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(60, 100)
		for minute, want := range []int64{60, 40, 0} {
			var allowed atomic.Int64
			var all sync.WaitGroup
			for i := range 300 {
				all.Go(func() {
					if l.Allow(fmt.Sprint("account", i%2), time.Now()).Allowed {
						allowed.Add(1)
					}
				})
			}
			all.Wait()
			if allowed.Load() != 2*want {
				t.Errorf("minute %d: %d calls of two accounts were let in", minute, allowed.Load())
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestCallsOnTheRealClockGetExactlyTheQuota(t *testing.T) {
	l := NewLimiter(60, 0)
	var allowed atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 20 {
				if l.Allow("acme", time.Now()).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if allowed.Load() != 60 {
		t.Errorf("%d calls were let in", allowed.Load())
	}
}

func TestCallsThatReadTheClockInAnotherOrderDoNotSlipIn(t *testing.T) {
	l := NewLimiter(2, 0)
	l.Allow("acme", at(10))
	l.Allow("acme", at(9)) // read the clock first, came second
	if l.Allow("acme", at(69)).Allowed {
		t.Error("a third call was let in 59 s after the first")
	}
	if !l.Allow("acme", at(70)).Allowed {
		t.Error("none is let in after a minute")
	}
}

func TestIdleAccountsAreForgotten(t *testing.T) {
	for _, c := range []struct {
		minute, day int
		after       time.Duration
		want        int
	}{
		{60, 0, 59 * time.Second, 1001},
		{60, 0, time.Minute, 1},
		{0, 0, time.Minute, 1},
		{60, 10, time.Hour, 1001}, // their day still counts
		{60, 10, 48 * time.Hour, 1},
	} {
		l := NewLimiter(c.minute, c.day)
		for i := range 1000 {
			l.Allow(fmt.Sprint(i), noon)
		}
		l.Allow("another", noon.Add(c.after))
		if len(l.windows) != c.want {
			t.Errorf("%d a minute, %d a day: after %s, %d accounts are remembered", c.minute, c.day, c.after, len(l.windows))
		}
	}
}

func TestTheLogOfAMinuteStaysSmall(t *testing.T) {
	var m minuteLog
	m.quota = 60
	for i := range 100_000 {
		now := noon.Add(time.Duration(i) * time.Second)
		if m.waitTime(now) == 0 {
			m.countCall(now)
		}
		if cap(m.accepted) > 4*m.quota {
			t.Fatalf("room for %d times", cap(m.accepted))
		}
	}
	if !m.isForgettable(noon.Add(48*time.Hour)) || m.accepted != nil {
		t.Error("an idle log keeps its memory")
	}
}
