package flight

import "sync"

// Together runs steps that do not need one another side by side, and waits for
// all of them, whichever fails: one waits for the disk while another computes.
// The error is that of the first step that failed, in their order: what ails one
// often ails all, and is said once. A panic is an error too.
func Together(steps ...func() error) error {
	faults := make([]error, len(steps))
	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() { faults[i] = guarded(step) })
	}
	running.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
