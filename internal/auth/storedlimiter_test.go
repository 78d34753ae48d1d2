package auth

import (
	"context"
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
