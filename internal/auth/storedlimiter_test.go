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
