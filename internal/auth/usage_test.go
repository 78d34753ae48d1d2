package auth

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func since(seconds int) *time.Time { return new(at(seconds)) }

// touch is a use of the key k, and the one before it that is wanted.
type touch struct {
	persisted *time.Time
	now       time.Time
	want      *time.Time
}

func wantTouches(t *testing.T, u *Usage, all []touch) {
	t.Helper()
	for _, c := range all {
		if diff := cmp.Diff(c.want, u.Touch("k", c.persisted, c.now)); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", c.now, diff)
		}
	}
}

func TestTheLastUseIsTheOneBeforeThisCall(t *testing.T) {
	u := NewUsage()
	wantTouches(t, u, []touch{
		{nil, at(1), nil},
		{nil, at(2), since(1)},
		{since(-100), at(3), since(2)}, // memory is newer
		{since(50), at(60), since(50)}, // another process used it
		{since(50), at(61), since(60)},
	})
	if got := u.Touch("other", since(-7), at(70)); !got.Equal(at(-7)) {
		t.Errorf("the first use since the start: got %v", got)
	}
}

// A clock that was ahead noted uses, on another server or on this one, until it was set right.
func TestALastUseIsNeverInTheFuture(t *testing.T) {
	u := NewUsage()
	wantTouches(t, u, []touch{
		{since(28_800), at(0), nil},
		{since(28_800), at(2), since(0)},
		{since(-5), at(28_803), since(2)}, // of this server
		{since(-5), at(4), since(-5)},
		{since(-5), at(6), since(4)},
		{since(8), at(7), since(7)}, // another server's clock is a moment ahead
	})
	wantUses(t, u.Drain(), map[string]time.Time{"k": at(7)})
}

func TestDrainGivesTheUsesSinceTheLastDrain(t *testing.T) {
	u := NewUsage()
	u.Touch("a", nil, at(1))
	u.Touch("b", nil, at(2))
	u.Touch("a", nil, at(3))
	wantUses(t, u.Drain(), map[string]time.Time{"a": at(3), "b": at(2)})
	wantUses(t, u.Drain(), map[string]time.Time{})
	u.Touch("b", nil, at(4))
	wantUses(t, u.Drain(), map[string]time.Time{"b": at(4)})
}

func TestUsesThatWerePutBackAreDrainedAgain(t *testing.T) {
	u := NewUsage()
	u.Touch("a", nil, at(1))
	u.Touch("b", nil, at(1))
	failed := u.Drain()
	u.Touch("b", nil, at(5))
	u.PutBack(failed)
	wantUses(t, u.Drain(), map[string]time.Time{"a": at(1), "b": at(5)})
	wantUses(t, u.Drain(), map[string]time.Time{})
}

func TestUsesThatArriveOutOfOrderDoNotGoBack(t *testing.T) {
	u := NewUsage()
	u.Touch("a", nil, at(9))
	u.Touch("a", nil, at(8))
	if got := u.Touch("a", nil, at(10)); !got.Equal(at(9)) {
		t.Errorf("got %v", got)
	}
}

func TestADrainedUseOutlivesRecordsThatDoNotKnowIt(t *testing.T) {
	u := NewUsage()
	u.Touch("a", nil, at(1))
	u.Drain()
	u.Touch("b", nil, at(600))
	u.Drain()
	// The record was cached before the first use was persisted.
	if got := u.Touch("a", nil, at(601)); got == nil || !got.Equal(at(1)) {
		t.Errorf("got %v", got)
	}
}

func TestDrainedUsesAreForgottenWhenNoRecordIsOlder(t *testing.T) {
	u := NewUsage()
	for i := range 1000 {
		u.Touch(fmt.Sprint(i), nil, at(0))
	}
	u.Drain()
	u.Touch("a", nil, at(661))
	u.Drain()
	if len(u.uses) != 1 {
		t.Errorf("%d keys are remembered", len(u.uses))
	}
}

func TestTheMemoryOfUsesIsBounded(t *testing.T) {
	u := NewUsage()
	for i := range usageSize + 10 {
		u.Touch(fmt.Sprint(i), nil, at(i))
	}
	if len(u.uses) != usageSize {
		t.Errorf("%d keys are remembered", len(u.uses))
	}
	if got := u.Touch("0", nil, at(usageSize)); !got.Equal(at(0)) {
		t.Errorf("a remembered key is forgotten: %v", got)
	}
	if got := u.Touch("one more", since(-1), at(usageSize)); !got.Equal(at(-1)) {
		t.Errorf("got %v", got)
	}
}

func TestChangingAnAnswerChangesNoMemory(t *testing.T) {
	u := NewUsage()
	u.Touch("a", nil, at(1))
	*u.Touch("a", nil, at(2)) = at(1000)
	clear(u.Drain())
	if got := u.Touch("a", nil, at(3)); !got.Equal(at(2)) {
		t.Errorf("got %v", got)
	}
}

// However draining, failing and using alternate, what was persisted in the
// end is the newest use of every key.
func TestNoUseIsLostWhateverFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, persisted, newest := NewUsage(), map[string]time.Time{}, map[string]time.Time{}
		now := noon
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "pause")) * time.Second)
			u.Touch(id, nil, now)
			newest[id] = laterTime(newest[id], now)
			if rapid.Bool().Draw(t, "drain") {
				if uses := u.Drain(); rapid.Bool().Draw(t, "fails") {
					u.PutBack(uses)
				} else {
					maps.Copy(persisted, uses)
				}
			}
		}
		maps.Copy(persisted, u.Drain())
		if diff := cmp.Diff(newest, persisted); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestUsageServesManyAtOnce(t *testing.T) {
	u := NewUsage()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			u.Touch(fmt.Sprint(i%5), nil, at(i))
			u.PutBack(u.Drain())
		})
	}
	all.Wait()
	want := map[string]time.Time{"0": at(45), "1": at(46), "2": at(47), "3": at(48), "4": at(49)}
	wantUses(t, u.Drain(), want)
}

func wantUses(t *testing.T, got, want map[string]time.Time) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
