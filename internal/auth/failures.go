package auth

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// failuresAllowed is how many keys that are not valid an address may send
	// in any minute before it has to wait.
	failuresAllowed = 200
	// failuresSize bounds the remembered addresses. Past it, one of them is
	// forgotten: who has that many addresses is not held up by any of them.
	failuresSize = 10_000
)

// LimitAddress is the limit of an address that sent too many wrong keys.
const LimitAddress = "address"

// Failures counts keys that are not valid, by the address that sent them, so
// that guessing costs the guesser and not the store. It is safe for concurrent
// use.
type Failures struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]*minuteLog
	swept     time.Time
}

// NewFailures returns a count of no failures.
func NewFailures() *Failures { return &Failures{addresses: map[netip.Prefix]*minuteLog{}} }

// Wait returns for how long an address has to wait before another key that is
// not known is looked at; 0 for not at all.
func (f *Failures) Wait(address netip.Addr, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if log, ok := f.addresses[network(address)]; ok {
		return log.wait(now)
	}
	return 0
}

// Note counts a key that was not valid.
func (f *Failures) Note(address netip.Addr, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log, ok := f.addresses[network(address)]
	if !ok {
		f.makeRoom(now)
		log = &minuteLog{quota: failuresAllowed}
		f.addresses[network(address)] = log
	}
	if log.wait(now) == 0 {
		log.take(now)
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
		if log.forgettable(now) {
			delete(f.addresses, address)
		}
	}
	if len(f.addresses) >= failuresSize {
		f.makeRoom(now)
	}
}

// network is what counts as one address: of version 6, whoever has one has
// all that begin with the same 64 bits.
func network(address netip.Addr) netip.Prefix {
	bits := 64
	if address = address.Unmap(); address.Is4() {
		bits = 32
	}
	prefix, _ := address.WithZone("").Prefix(bits)
	return prefix
}
