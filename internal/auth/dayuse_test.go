package auth

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// let makes a call that is reserved where it has to be, and keeps what was
// stored.
func let(l *Limiter, account string, now time.Time, stored map[string]DayUse) Decision {
	for {
		d := l.Allow(account, now)
		if !d.Unreserved {
			return d
		}
		keep(l, l.ReserveWaiting(now), stored)
	}
}

func keep(l *Limiter, uses []DayUse, stored map[string]DayUse) {
	for _, u := range uses {
		stored[u.Account] = u
	}
	l.Reserved(uses, true)
}

func TestADayGoesOnWhereAnotherServerLeftIt(t *testing.T) {
	before, after := NewReservingLimiter(0, 5), NewReservingLimiter(0, 5)
	stored, own := map[string]DayUse{}, map[string]DayUse{}
	for range 3 {
		let(before, "acme", at(0), stored)
	}
	let(before, "zeta", at(0), stored)
	keep(before, before.GiveBack(at(0)), stored)
	day := utcDay(at(0))
	if diff := cmp.Diff(map[string]DayUse{"acme": {Account: "acme", Day: day, Used: 3}, "zeta": {Account: "zeta", Day: day, Used: 1}}, stored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := before.GiveBack(at(0)); len(again) > 0 {
		t.Errorf("stored again without a call: %v", again)
	}
	told := slices.Collect(maps.Values(stored))
	after.TakeElsewhere(told, at(1))
	var got []bool
	for s := range 3 {
		got = append(got, let(after, "acme", at(2+s), own).Allowed)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Its own calls are its own, whatever it was told.
	if diff := cmp.Diff(map[string]DayUse{"acme": {Account: "acme", Day: day, Used: 2}}, own); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tomorrow := at(24 * 3600)
	after.TakeElsewhere(told, tomorrow) // of yesterday
	if d := let(after, "acme", tomorrow, own); !d.Allowed || d.Windows[0].Remaining != 4 {
		t.Errorf("the next day: %+v", d)
	}
}

// A server that has not had a call since midnight knows of the new day what it was told.
func TestADayThatOthersUsedUpIsRefusedFromItsFirstCall(t *testing.T) {
	l, key := NewReservingLimiter(0, 5), KeyLimit{"k_a", Quotas{Day: 3}}
	l.PeekKey("acme", KeyLimit{}, at(0))
	l.PeekKey("zeta", key, at(0))
	tomorrow := at(24 * 3600)
	l.TakeElsewhere([]DayUse{{Account: "acme", Day: utcDay(tomorrow), Used: 5}, {Account: "zeta", Key: "k_a", Day: utcDay(tomorrow), Used: 3}}, tomorrow)
	for _, d := range []Decision{l.Allow("acme", tomorrow), l.AllowKey("zeta", key, tomorrow)} {
		if d.Allowed || d.Unreserved || d.Windows[0].Remaining != 0 {
			t.Errorf("%+v", d)
		}
	}
}

// What was reserved or counted of a day is nothing of the next one, which needs
// reservations too.
func TestANewDayBeginsWithNothingReservedAndNothingCounted(t *testing.T) {
	l, key := NewReservingLimiter(0, 1_000), KeyLimit{"k_a", Quotas{Day: 3}}
	tomorrow := at(24 * 3600)
	for range 20 {
		let(l, "acme", at(0), map[string]DayUse{})
	}
	l.Allow("acme", at(0)) // waits, and the day ends before it is stored
	yesterdays := l.ReserveWaiting(at(0))
	l.TakeElsewhere([]DayUse{{Account: "acme", Key: "k_a", Day: utcDay(at(0)), Used: 3}}, at(0))
	if d := l.Allow("acme", tomorrow); !d.Unreserved {
		t.Errorf("the first call of a day: %+v", d)
	}
	l.Reserved(yesterdays, true)
	if d := l.Allow("acme", tomorrow); len(yesterdays) != 1 || !d.Unreserved {
		t.Errorf("after %v was stored: %+v", yesterdays, d)
	}
	if d := l.PeekKey("acme", key, tomorrow); !d.Allowed || d.Windows[0].Remaining != 3 {
		t.Errorf("a key whose yesterday was used up elsewhere: %+v", d)
	}
	open, late := NewLimiter(0, 2), utcDay(tomorrow).Time().Add(-time.Second)
	open.Allow("acme", late)
	open.Allow("acme", tomorrow)
	if left := open.TakeBack("acme", late)[0].Remaining; left != 1 {
		t.Errorf("a call of yesterday that was taken back leaves %d, want 1", left)
	}
}

func TestWhatOthersLetInCounts(t *testing.T) {
	l := NewLimiter(3, 0)
	for s := range 5 {
		l.CountKey("acme", KeyLimit{}, at(s))
	}
	d := l.Allow("acme", at(5))
	if d.Allowed || d.Windows[0].Remaining != 0 {
		t.Errorf("%+v", d)
	}
	if wait := int(d.RetryAfter.Seconds()); wait != 57 || l.Allow("acme", at(61)).Allowed || !l.Allow("acme", at(62)).Allowed {
		t.Errorf("the wait is %d s; expected 57, after which one is let in", wait)
	}
	days, tomorrow := NewLimiter(0, 3), at(24*3600)
	days.CountKey("acme", KeyLimit{}, at(0))
	if left := days.CountKey("acme", KeyLimit{}, tomorrow)[0].Remaining; left != 2 || days.Allow("acme", tomorrow).Windows[0].Remaining != 1 {
		t.Errorf("after the first call of the next day %d are left", left)
	}
}

// Servers follow one another; some are killed and some end in order.
func TestAKilledServerLosesNoneOfTheDaysCountAndRefusesABlockTooEarlyAtMost(t *testing.T) {
	const quota = 1_000 // the block is 10
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var elsewhere, allowed, kills, seconds int
		for refused := false; !refused; {
			l, stored := NewReservingLimiter(0, quota), map[string]DayUse{}
			l.TakeElsewhere([]DayUse{{Account: "acme", Day: utcDay(at(0)), Used: elsewhere}}, at(0))
			own := 0
			for ends := r.IntN(400); ends > 0 && !refused; ends-- {
				seconds += r.IntN(2) * r.IntN(70)
				if r.IntN(3) == 0 {
					keep(l, l.ReserveAhead(at(seconds%3600)), stored)
				}
				d := let(l, "acme", at(seconds%3600), stored)
				if refused = !d.Allowed; !refused {
					own++
				}
				if ahead := stored["acme"].Used - own; ahead < 0 || ahead > quota/100 {
					t.Fatalf("seed %d: the stored count is ahead by %d after %d calls", seed, ahead, own)
				}
			}
			allowed += own
			if r.IntN(2) == 0 {
				keep(l, l.GiveBack(at(seconds%3600)), stored)
				if got := stored["acme"].Used; got != own {
					t.Fatalf("seed %d: %d are stored at the end, expected %d", seed, got, own)
				}
			} else {
				kills++
			}
			elsewhere += stored["acme"].Used
		}
		if allowed > quota || allowed < quota-kills*quota/100 {
			t.Errorf("seed %d: %d calls of %d were let in with %d kills", seed, allowed, quota, kills)
		}
	}
}

// Two servers without a shared store: what one has reserved and does not use is
// no reason for the other to refuse.
func TestWhatAnIdleServerReservedIsGivenBack(t *testing.T) {
	idle, stored := NewReservingLimiter(0, 1_000), map[string]DayUse{}
	let(idle, "acme", at(0), stored)
	if got := stored["acme"].Used; got != 10 {
		t.Errorf("%d are reserved after the first call, expected 10", got)
	}
	near := NewReservingLimiter(0, 1_000)
	let(near, "acme", at(0), map[string]DayUse{})
	near.TakeElsewhere([]DayUse{{Account: "acme", Day: utcDay(at(0)), Used: 985}}, at(1))
	for name, uses := range map[string][]DayUse{"after a minute": idle.ReserveAhead(at(60)), "near the limit": near.ReserveAhead(at(1))} {
		if diff := cmp.Diff([]DayUse{{Account: "acme", Day: utcDay(at(0)), Used: 1}}, uses); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if d := idle.Allow("acme", at(61)); !d.Unreserved {
		t.Errorf("a call that was given back is let in: %+v", d)
	}
}

func TestWithoutTheDatabaseTheDayGoesOnAndIsStoredLater(t *testing.T) {
	l := NewReservingLimiter(0, 5)
	for i := range 5 {
		if d := l.Allow("acme", at(0)); !d.Unreserved {
			t.Fatalf("call %d: %+v", i, d)
		}
		l.Reserved(l.ReserveWaiting(at(0)), false)
		if d := l.Allow("acme", at(0)); !d.Allowed {
			t.Fatalf("call %d: %+v", i, d)
		}
	}
	if d := l.Allow("acme", at(0)); d.Allowed || d.Unreserved {
		t.Errorf("the sixth of five: %+v", d)
	}
	// A call of another account takes along what was not stored.
	l.Allow("zeta", at(0))
	stored := map[string]DayUse{}
	keep(l, l.ReserveWaiting(at(0)), stored)
	if diff := cmp.Diff(map[string]DayUse{"acme": {Account: "acme", Day: utcDay(at(0)), Used: 5}, "zeta": {Account: "zeta", Day: utcDay(at(0)), Used: 1}}, stored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// It is no more than was let in: after a kill the rest would be lost.
func TestWhatCouldNotBeStoredComesWithTheNextKeep(t *testing.T) {
	l := NewReservingLimiter(0, 5)
	l.Allow("acme", at(0))
	l.Reserved(l.ReserveWaiting(at(0)), false)
	l.Allow("acme", at(0))
	if diff := cmp.Diff([]DayUse{{Account: "acme", Day: utcDay(at(0)), Used: 1}}, l.ReserveAhead(at(0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
