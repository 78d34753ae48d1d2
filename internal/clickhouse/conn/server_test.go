package conn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
)

// awaySource is a server that is found to be away after a while.
type awaySource struct {
	after time.Duration
	looks int
}

func (*awaySource) Marks() Marks { return nil }

func (a *awaySource) Target(context.Context) (Target, error) {
	a.looks++
	time.Sleep(a.after)
	return Target{}, errors.New("away")
}

// An account may have moved since its statement came, and be deleted here.
func TestAStatementIsNotBegunOnceMoreLongAfterItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]int{time.Second: 2, repeatWithin: 1} {
			source := &awaySource{after: after}
			err := NewServer(source, Checks{}).Read(t.Context(), "SELECT 1", nil, nil)
			if adlens.KindOf(err) != adlens.EngineUnavailable || source.looks != want {
				t.Errorf("a server that is away after %s was looked for %d times, expected %d: %v", after, source.looks, want, err)
			}
		}
	})
}
