package auth

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAKeysOwnLimitHoldsWithinItsAccounts(t *testing.T) {
	l := NewLimiter(5, 100)
	sheet, page := KeyLimit{"sheet", Quotas{Minute: 2}}, KeyLimit{"page", Quotas{Minute: 4, Day: 5}}
	allow := func(key KeyLimit, s int) Decision { return l.AllowKey("acme", key, at(s)) }
	for i := range 2 {
		if d := allow(sheet, i); !d.Allowed || d.Windows[0].Remaining != 1-i || d.Windows[0].Quota != 2 || d.Windows[1].Remaining != 99-i {
			t.Fatalf("call %d of the sheet: %+v", i+1, d)
		}
	}
	if d := allow(sheet, 2); d.Allowed || d.Limit != LimitMinute || !d.Own || d.RetryAfter != 58*time.Second || d.Windows[0].Quota != 2 {
		t.Errorf("the third call of the sheet: %+v", d)
	}
	// A refused call counts nowhere: the account has three left, and the page gets them.
	for i := range 3 {
		if d := allow(page, 3); !d.Allowed || d.Windows[0].Remaining != 2-i || d.Windows[0].Quota != map[bool]int{true: 5, false: 4}[d.Windows[0].Remaining < 3-i] {
			t.Errorf("call %d of the page: %+v", i+1, d)
		}
	}
	if d := allow(page, 4); d.Allowed || d.Own || d.Limit != LimitMinute || d.RetryAfter != 56*time.Second {
		t.Errorf("the account's limit is reached: %+v", d)
	}
	if d := allow(KeyLimit{}, 4); d.Allowed || d.Own {
		t.Errorf("a key without a limit of its own: %+v", d)
	}
	if d := l.AllowKey("zeta", sheet, at(4)); !d.Allowed {
		t.Errorf("another account: %+v", d)
	}
	// The page has two left of its day, whatever the account has.
	for i, want := range []bool{true, true, false} {
		if d := allow(page, 120+i); d.Allowed != want || d.Windows[1].Quota != 5 || !want && (d.Limit != LimitDay || !d.Own) {
			t.Errorf("call %d of the page's rest of the day: %+v", i+1, d)
		}
	}
	if d := allow(page, 24*3600); !d.Allowed || d.Windows[1].Remaining != 4 {
		t.Errorf("the next day: %+v", d)
	}
}

func TestAKeysDayIsReservedAndGoesOnWhereAnotherServerLeftIt(t *testing.T) {
	key := KeyLimit{"sheet", Quotas{Day: 3}}
	let := func(l *Limiter, second int, stored map[string]DayUse) Decision {
		for {
			d := l.AllowKey("acme", key, at(second))
			if !d.Unreserved {
				return d
			}
			uses := l.ReserveWaiting(at(second))
			for _, u := range uses {
				stored[u.Account+"/"+u.Key] = u
			}
			l.Reserved(uses, true)
		}
	}
	before, stored := NewReservingLimiter(0, 100), map[string]DayUse{}
	for range 2 {
		if d := let(before, 0, stored); !d.Allowed {
			t.Fatalf("%+v", d)
		}
	}
	if got := stored["acme/sheet"]; got.Used < 2 || got.Used > 3 || stored["acme/"].Used < 2 {
		t.Errorf("stored are %v", stored) // and a kill here loses nothing
	}
	day := utcDay(at(0))
	told := []DayUse{{Account: "acme", Day: day, Used: 2}, {Account: "acme", Key: "sheet", Day: day, Used: 2}, {Account: "acme", Key: "other", Day: day, Used: 9}}
	for _, when := range []string{"before the key calls", "after it called"} {
		after := NewReservingLimiter(0, 100)
		want := []bool{true, false}
		if when == "after it called" {
			let(after, 1, map[string]DayUse{})
			want = []bool{false}
		}
		after.TakeElsewhere(told, at(1))
		for i, allowed := range want {
			if d := let(after, 2+i, map[string]DayUse{}); d.Allowed != allowed || !allowed && !d.Own {
				t.Errorf("told %s, call %d: %+v", when, i+1, d)
			}
		}
	}
}

// The oracle counts by hand what was let in.
func TestOwnAndSharedLimitsTogetherLetInWhatBothDo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		shared := Quotas{rapid.IntRange(0, 6).Draw(r, "minute"), rapid.IntRange(0, 15).Draw(r, "day")}
		keys := []KeyLimit{{}, {"a", Quotas{rapid.IntRange(0, 4).Draw(r, "a's minute"), rapid.IntRange(0, 9).Draw(r, "a's day")}}, {"b", Quotas{Minute: 1}}}
		l := NewLimiter(shared.Minute, shared.Day)
		calls := map[string][]time.Time{}
		now := time.Date(2026, 11, 20, 23, 50, 0, 0, time.UTC)
		room := func(who string, q Quotas) bool {
			minute, day := 0, 0
			for _, at := range calls[who] {
				if now.Sub(at) < time.Minute {
					minute++
				}
				if at.YearDay() == now.YearDay() {
					day++
				}
			}
			return (q.Minute == 0 || minute < q.Minute) && (q.Day == 0 || day < q.Day)
		}
		for range rapid.IntRange(1, 60).Draw(r, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(r, "pause")) * time.Millisecond)
			key := rapid.SampledFrom(keys).Draw(r, "key")
			want := room("account", shared) && room("key "+key.KeyID, key.Quotas)
			d := l.AllowKey("acme", key, now)
			if d.Allowed != want {
				r.Fatalf("at %s key %v is let in: %v, want %v; %v", now, key, d.Allowed, want, calls)
			}
			if !want {
				if d.Own && room("key "+key.KeyID, key.Quotas) || !d.Own && room("account", shared) {
					r.Fatalf("refused by its own limit: %v; %v", d.Own, calls)
				}
				now = now.Add(d.RetryAfter - 1)
				if l.AllowKey("acme", key, now).Allowed {
					r.Fatalf("let in sooner than after %s", d.RetryAfter)
				}
				if now = now.Add(1); !l.AllowKey("acme", key, now).Allowed {
					r.Fatalf("not let in after %s", d.RetryAfter)
				}
			}
			calls["account"], calls["key "+key.KeyID] = append(calls["account"], now), append(calls["key "+key.KeyID], now)
		}
	})
}

func TestTheTightestWindowIsTheOneThatLeavesLeast(t *testing.T) {
	w := func(name string, quota, remaining, reset int) Window {
		return Window{Name: name, Quota: quota, Remaining: remaining, ResetSeconds: reset}
	}
	for _, c := range []struct{ all, want []Window }{
		{nil, nil},
		{[]Window{w("day", 9, 1, 5)}, []Window{w("day", 9, 1, 5)}},
		{[]Window{w("minute", 60, 3, 5), w("day", 9, 1, 5), w("minute", 10, 2, 1)}, []Window{w("minute", 10, 2, 1), w("day", 9, 1, 5)}},
		{[]Window{w("minute", 10, 2, 1), w("minute", 60, 2, 5)}, []Window{w("minute", 60, 2, 5)}},
		{[]Window{w("minute", 60, 2, 5), w("minute", 10, 2, 5)}, []Window{w("minute", 10, 2, 5)}},
		{[]Window{w("day", 60, 2, 5), w("minute", 10, 2, 5)}, []Window{w("minute", 10, 2, 5), w("day", 60, 2, 5)}},
	} {
		if diff := cmp.Diff(c.want, Tightest(c.all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fmt.Sprint(c.all), diff)
		}
	}
}
