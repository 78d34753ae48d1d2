package connector

import (
	"errors"
	"slices"

	"adlens"
	"adlens/internal/platform/api"
)

// refusal is how often the platform refused a task on a day.
type refusal struct {
	day   adlens.Day
	times int
}

// closedTries is how often a profile is tried on a day of which the platform says that it
// is not open to the connection: it may say so for a while of one that is.
const closedTries = 5

// isWanting reports whether another try on the same day may bring more of a
// task: all else is read, waits for rates or a list, or was refused for good.
func (t *task) isWanting() bool {
	return slices.ContainsFunc(t.windows, func(w *window) bool {
		return w.progress < onDisk && !w.wasRefused() || w.progress == onDisk && !w.waits
	})
}

// wasRefused reports whether the platform refused to make the report of a window, for as
// long as its day lasts. One that it made and gives no more is requested again.
func (w *window) wasRefused() bool {
	return w.progress == missing && errors.Is(w.err, api.Refused) && !w.mayOpen(w.err)
}

// mayOpen reports whether an error says of the profile that it is closed, which another try
// on the same day may find open.
func (w *window) mayOpen(err error) bool {
	return errors.Is(err, api.Closed) && w.refusals+1 < closedTries
}

// countRefusals returns how often the platform refused a task of the same day. It may be
// requested again on the next one: who had no right to it may have by then.
func (d *Daily) countRefusals(t *task) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.refused[t.taskKey()]; last.day == t.last {
		return last.times
	}
	return 0
}

// noteRefused notes how often the platform refused a task on its day.
func (d *Daily) noteRefused(t *task, times int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused == nil {
		d.refused = map[string]refusal{}
	}
	d.refused[t.taskKey()] = refusal{t.last, times}
}
