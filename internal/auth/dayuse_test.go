package auth

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADayGoesOnWhereAnotherServerLeftIt(t *testing.T) {
	before, after := NewLimiter(0, 5), NewLimiter(0, 5)
	for range 3 {
		before.Allow("acme", at(0))
	}
	before.Allow("zeta", at(0))
	told := before.DayUses()
	slices.SortFunc(told, func(a, b DayUse) int { return strings.Compare(a.Account, b.Account) })
	day := utcDay(at(0))
	if diff := cmp.Diff([]DayUse{{"acme", day, 3}, {"zeta", day, 1}}, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := before.DayUses(); len(again) > 0 {
		t.Errorf("told again without a call: %v", again)
	}
	after.TakeElsewhere(told, at(1))
	var got []bool
	for s := range 3 {
		got = append(got, after.Allow("acme", at(2+s)).Allowed)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Its own calls are its own, whatever it was told.
	if diff := cmp.Diff([]DayUse{{"acme", day, 2}}, after.DayUses()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tomorrow := at(24 * 3600)
	after.TakeElsewhere(told, tomorrow) // of yesterday
	if d := after.Allow("acme", tomorrow); !d.Allowed || d.Windows[0].Remaining != 4 {
		t.Errorf("the next day: %+v", d)
	}
}

func TestWhatOthersLetInCounts(t *testing.T) {
	l := NewLimiter(3, 0)
	for s := range 5 {
		l.Count("acme", at(s))
	}
	d := l.Allow("acme", at(5))
	if d.Allowed || d.Windows[0].Remaining != 0 {
		t.Errorf("%+v", d)
	}
	if wait := int(d.RetryAfter.Seconds()); wait != 57 || l.Allow("acme", at(61)).Allowed || !l.Allow("acme", at(62)).Allowed {
		t.Errorf("the wait is %d s; expected 57, after which one is let in", wait)
	}
}
