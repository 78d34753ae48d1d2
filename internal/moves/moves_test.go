package moves

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// deaf are shards of which one does not say what became of a deletion.
type deaf struct{ Shards }

func (deaf) RequireShard(context.Context, uint16) error                              { return nil }
func (deaf) Place(context.Context, string) (uint16, error)                           { return 1, nil }
func (deaf) NewestCommit(context.Context, uint16, string) (newest uint32, err error) { return 0, nil }
func (deaf) Left(context.Context, uint16, string) ([]string, error)                  { return []string{"facts"}, nil }

func (deaf) HeldUntil(context.Context, uint16, string) (Deadline, error) {
	return Deadline{Since: time.Hour, Running: time.Hour + 20*time.Second}, nil
}

var errSilent = errors.New("no answer")

func (deaf) Clear(context.Context, uint16, string, string, Deadline) error { return errSilent }

// What became of a deletion is not known where it failed. The caller has the lock until Move
// returns: it returns later than the shard would still take the statement, also where the
// context ends before.
func TestAMoveWhoseDeletionFailsWaitsUntilItIsTakenNoMore(t *testing.T) {
	m := NewMover(deaf{})
	var waits []time.Duration
	m.Wait = func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Move(ctx, "acme", 2, nil); !errors.Is(err, errSilent) || errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if !slices.Equal(waits, []time.Duration{20 * time.Second}) {
		t.Errorf("it waited for %v", waits)
	}
}
