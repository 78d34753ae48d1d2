package standin

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Fault makes some calls go wrong.
type Fault struct {
	// On is the endpoint; Any for every one.
	On Endpoint
	// Profile narrows the fault to calls with this scope; 0 for all.
	Profile int64
	// When narrows it further, where not nil.
	When func(Call) bool
	// Nth is the first call that it strikes, counted from its injection and
	// among the calls that it is about; the next one where zero.
	Nth int
	// Times is how many calls in a row it strikes: one where zero, all from
	// there on where negative.
	Times int
	// Do is what happens.
	Do Effect
}

// Effect is what a fault does with a call.
type Effect struct {
	serve func(p *Platform, w http.ResponseWriter, r *http.Request, next http.Handler)
}

// Effected makes an effect of a handler: next is what the platform would do.
func Effected(serve func(w http.ResponseWriter, r *http.Request, next http.Handler)) Effect {
	return Effect{func(_ *Platform, w http.ResponseWriter, r *http.Request, next http.Handler) { serve(w, r, next) }}
}

func (f Fault) matchesCall(call Call) bool {
	return (f.On == Any || f.On == call.Endpoint) &&
		(f.Profile == 0 || strconv.FormatInt(f.Profile, 10) == call.Scope()) &&
		(f.When == nil || f.When(call))
}

func (f Fault) strikesAt(count int) bool {
	first, times := max(f.Nth, 1), f.Times
	if times == 0 {
		times = 1
	}
	return count >= first && (times < 0 || count < first+times)
}

// injected is a fault with the calls that it has seen.
type injected struct {
	Fault
	seen int
}

type faults struct {
	mu  sync.Mutex
	all []*injected
}

// Inject adds a fault; stop takes it back. Where several strike the same call,
// the one that was injected first does, and all of them count the call.
func (p *Platform) Inject(fault Fault) (stop func()) {
	one := &injected{Fault: fault}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.all = append(p.faults.all, one)
	return func() {
		p.faults.mu.Lock()
		defer p.faults.mu.Unlock()
		p.faults.all = slices.DeleteFunc(p.faults.all, func(other *injected) bool { return other == one })
	}
}

// Heal takes back every fault.
func (p *Platform) Heal() {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.all = nil
}

func (f *faults) nextEffect(call Call) (effect Effect, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		if !one.matchesCall(call) {
			continue
		}
		one.seen++
		if !found && one.strikesAt(one.seen) {
			effect, found = one.Do, true
		}
	}
	return effect, found
}
