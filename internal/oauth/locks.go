package oauth

import "context"

// familyLocks serialise what changes a connection within this process. Another
// server's concurrent change is not seen: the row that is written last wins, the
// secrets of the other do not match it, and their next use ends the connection.
type familyLocks [64]chan struct{}

func newFamilyLocks() (l familyLocks) {
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}
	return l
}

// lock waits for the lock of a hash, which it shares with some others.
func (l *familyLocks) lock(ctx context.Context, hash [32]byte) (unlock func(), err error) {
	slot := l[int(hash[0])%len(l)]
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
