package auth

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// failuresAllowed is how many keys that are not valid an address may send
	// in any minute before it is a suspect.
	failuresAllowed = 200
	// failuresSize bounds the remembered addresses. Past it, one of them is
	// forgotten: who has that many addresses is not held up by any of them.
	failuresSize = 10_000
)

// LimitAddress is the limit of an address that sent too many wrong keys.
const LimitAddress = "address"

// Failures counts keys that are not valid, by the address that sent them. Keys
// are too long to be guessed; what is bounded is the work that guesses make. A
// suspect's valid keys are let in all the same, because an address may be a proxy
// that all clients share. It is safe for concurrent use.
type Failures struct {
	allowed int // in any minute

	mu        sync.Mutex
	addresses map[netip.Prefix]*minuteLog
	swept     time.Time
}

// NewFailures returns a count of no failures.
func NewFailures() *Failures { return NewFailuresUpTo(failuresAllowed) }

// NewFailuresUpTo returns a count of no failures, of which an address may have
// so many in any minute.
func NewFailuresUpTo(allowed int) *Failures {
	return &Failures{allowed: allowed, addresses: map[netip.Prefix]*minuteLog{}}
}

// Wait returns for how long an address is a suspect, whose keys that are not
// valid are told to come back later; 0 for not at all.
func (f *Failures) Wait(address netip.Addr, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if log, ok := f.addresses[networkOf(address)]; ok {
		return log.waitTime(now)
	}
	return 0
}

// Guard looks up a key that an address sent, and counts it where it is not valid.
// wait is for how long the address has to wait then, if it is a suspect.
func (f *Failures) Guard(address netip.Addr, now time.Time, find func(suspect bool) (Record, error)) (r Record, wait time.Duration, err error) {
	wait = f.Wait(address, now)
	if r, err = find(wait > 0); !errors.Is(err, ErrInvalidKey) {
		return r, 0, err
	}
	if wait == 0 {
		f.Note(address, now)
	}
	return r, wait, err
}

// Note counts a key that was not valid.
func (f *Failures) Note(address netip.Addr, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log, ok := f.addresses[networkOf(address)]
	if !ok {
		f.makeRoom(now)
		log = &minuteLog{quota: f.allowed}
		f.addresses[networkOf(address)] = log
	}
	if log.waitTime(now) == 0 {
		log.countCall(now)
	}
}

// makeRoom forgets addresses that need not wait, at most once a minute, and
// else any one.
func (f *Failures) makeRoom(now time.Time) {
	if len(f.addresses) < failuresSize {
		return
	}
	sweep := now.Sub(f.swept) >= time.Minute
	if sweep {
		f.swept = now
	}
	for address, log := range f.addresses {
		if !sweep {
			delete(f.addresses, address)
			return
		}
		if log.isForgettable(now) {
			delete(f.addresses, address)
		}
	}
	if len(f.addresses) >= failuresSize {
		f.makeRoom(now)
	}
}

// networkOf is what counts as one address: of version 6, a host that has one has
// all that begin with the same 64 bits.
func networkOf(address netip.Addr) netip.Prefix {
	bits := 64
	if address = address.Unmap(); address.Is4() {
		bits = 32
	}
	prefix, _ := address.WithZone("").Prefix(bits)
	return prefix
}
