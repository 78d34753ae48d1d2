package main

import (
	"fmt"
	"time"
)

// stage is how far a kind of work is.
type stage struct {
	doing, noun string // "loading", "files"
	done, total uint64
	measured    uint64 // what the rate is of, so far
	measure     string // "rows"; "" for no rate
}

// sure is for how long a stage must have run before its rate says something.
const sure = time.Second

// progressLine says how far the stage is after some time, how fast it goes, and when it
// will be done, in the order in which a short line may be cut.
func (s stage) progressLine(after time.Duration) string {
	text := fmt.Sprintf("%s: %d of %d %s", s.doing, s.done, s.total, s.noun)
	if after < sure {
		return text
	}
	if s.done > 0 && s.done < s.total {
		left := time.Duration(float64(after) / float64(s.done) * float64(s.total-s.done))
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	if s.measure != "" {
		text += fmt.Sprintf(", %.0f %s/s", float64(s.measured)/after.Seconds(), s.measure)
	}
	return text
}
