package flight_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"adlens/internal/flight"
)

// Every step is waited for, and of several faults the first in the order of the
// steps is told, whichever came first.
func TestTogetherWaitsForAllAndTellsTheFirstFault(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	failed := make(chan struct{})
	var ran atomic.Int32
	err := flight.Together(
		func() error { ran.Add(1); return nil },
		func() error { <-failed; ran.Add(1); return first },
		func() error { defer close(failed); ran.Add(1); return second },
	)
	if err != first || ran.Load() != 3 {
		t.Errorf("%d steps ran and the error is %v, expected 3 and %v", ran.Load(), err, first)
	}
	if err := flight.Together(func() error { panic("a step") }); err == nil || !strings.HasPrefix(err.Error(), "panic: a step\n") {
		t.Errorf("a panic is reported as %v", err)
	}
	if err := flight.Together(); err != nil {
		t.Errorf("no steps fail: %v", err)
	}
}
