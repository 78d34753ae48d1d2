package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
)

// hanging is a store that never answers.
type hanging struct{}

func (hanging) PutDayUses(ctx context.Context, _ string, _ []DayUse, _ time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) DayUses(context.Context, string, adlens.Day) ([]DayUse, error) { return nil, nil }

// A limit never makes a server unavailable: calls that come together wait together.
func TestCallsDoNotQueueForAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewStoredLimiter(NewReservingLimiter(0, 10_000), hanging{}, "here", time.Now)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				if d := l.AllowKey(fmt.Sprint("account ", i), KeyLimit{}, time.Now()); !d.Allowed {
					t.Errorf("call %d is refused: %+v", i, d)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the last call waited until %s", took)
		}
	})
}

// away is a store that can be away.
type away struct {
	hanging
	is bool
}

func (a *away) PutDayUses(context.Context, string, []DayUse, time.Time) error {
	if a.is {
		return errors.New("the disk is full")
	}
	return nil
}

// It is tried several times a second: one warning, and not a log of them.
func TestCountsThatCannotBeStoredAreWarnedOfOnce(t *testing.T) {
	store := &away{is: true}
	now := time.Now()
	l := NewStoredLimiter(NewReservingLimiter(0, 10_000), store, "here", func() time.Time { return now })
	var warned []string
	l.Warn = func(text string, err error) { warned = append(warned, text) }
	for outages := range 2 {
		store.is = true
		l.AllowKey("acme", KeyLimit{}, now)
		for range 100 {
			now = now.Add(time.Second)
			l.Keep(t.Context())
		}
		if len(warned) != outages+1 {
			t.Errorf("outage %d: %q", outages, warned)
		}
		store.is = false
		l.AllowKey("acme", KeyLimit{}, now)
		l.Keep(t.Context())
	}
}

// times is a store that notes when counts were stored, and of which day they were read.
type times struct {
	stored []time.Time
	read   adlens.Day
}

func (s *times) PutDayUses(_ context.Context, _ string, _ []DayUse, at time.Time) error {
	s.stored = append(s.stored, at.UTC()) // as a database keeps it
	return nil
}

func (s *times) DayUses(_ context.Context, _ string, day adlens.Day) ([]DayUse, error) {
	s.read = day
	return nil, nil
}

// A wall clock that is set back makes no count older than the one before, and days are
// those of UTC wherever the clock is.
func TestCountsAreInOrderWhateverTheWallClock(t *testing.T) {
	c, store := newClock(), &times{}
	c.setTo(0, 20)
	l := NewStoredLimiter(NewReservingLimiter(0, 50), store, "here", func() time.Time { return c.now })
	for range 3 { // blocks of one call
		l.AllowKey("acme", KeyLimit{}, c.now)
		c.pass(time.Second)
		c.set(-time.Minute)
	}
	if len(store.stored) != 3 || !store.stored[0].Before(store.stored[1]) || !store.stored[1].Before(store.stored[2]) {
		t.Errorf("counts are stored at %v", store.stored)
	}
	east := func() time.Time { return c.now.In(time.FixedZone("UTC+9", 9*60*60)) }
	if err := NewStoredLimiter(NewLimiter(0, 50), store, "there", east).ReadElsewhere(t.Context()); err != nil || store.read != utcDay(c.now) {
		t.Errorf("read is %s of UTC's %s: %v", store.read, utcDay(c.now), err)
	}
}
