package connector

import (
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// A clock that was ahead for a moment does not end what is asked of the platform until the
// day that it showed; one that jumps by little breaks no distance.
func TestWorkOfAWrongClockDoesNotRestUntilThen(t *testing.T) {
	t.Parallel()
	name := loader.ListName{Entity: platform.Ads, AdProduct: adlens.SponsoredProducts}
	for ahead, want := range map[time.Duration]turn{
		-7 * time.Hour: free, 0: resting, time.Hour: resting, longestRest - time.Minute: resting, longestRest + time.Minute: free, 30 * 24 * time.Hour: free,
	} {
		m := newMemory("one")
		for _, of := range []string{"work", ListWork("one", "1", name)} {
			m.attempts[of] = attempt{time.Now().Add(ahead), 9}
		}
		w := work{store: m, locks: m, name: "work", rest: marketRest}
		if got, err := w.currentTurn(t.Context()); got != want || err != nil {
			t.Errorf("work that began %s from now: turn %d, want %d, %v", ahead, got, want, err)
		}
		r := &listReader{store: m, account: "one", profile: "1", failed: map[loader.ListName]error{}, before: map[loader.ListName]int{}}
		if rests := r.isResting(t.Context(), name); rests != (want == resting) {
			t.Errorf("a list that failed %s from now rests: %v", ahead, rests)
		}
	}
}
