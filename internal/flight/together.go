package flight

import (
	"errors"
	"sync"
)

// Together runs steps that do not need one another side by side, and waits for
// all of them, whichever fails: one waits for the disk while another computes.
func Together(steps ...func() error) error {
	faults := make([]error, len(steps))
	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() { faults[i] = step() })
	}
	running.Wait()
	return errors.Join(faults...)
}
