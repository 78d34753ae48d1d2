package auth

import (
	"sync"
	"time"
)

const (
	knownFor  = 12 * time.Hour // and up to twice as long
	knownSize = 100_000
)

// knownKeys remembers the hashes of keys that were valid lately. They need not
// wait for a turn whatever else their address sends: behind one address may sit
// a whole office. Like the cache of records it has two generations.
type knownKeys struct {
	mu         sync.Mutex
	young, old map[[32]byte]struct{}
	turned     time.Time
}

func (k *knownKeys) addHash(hash [32]byte, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.young == nil || len(k.young) >= knownSize/2 || now.Sub(k.turned) >= knownFor {
		k.old, k.young, k.turned = k.young, map[[32]byte]struct{}{}, now
	}
	k.young[hash] = struct{}{}
}

func (k *knownKeys) hasHash(hash [32]byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, young := k.young[hash]
	_, old := k.old[hash]
	return young || old
}
