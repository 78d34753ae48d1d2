package cluster

import (
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// A process that was stopped for longer than its claim is trusted must not renew
// it: another one may hold the name. Renewing would need the cluster, which this
// claim does not have.
func TestAClaimThatMayHaveDiedIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claim{name: "acme"}
		aged := time.Now().Add(-leaseTrust - time.Second)
		c.renewed.Store(&aged)
		c.keepRenewing(t.Context())
		if c.requireFresh() == nil {
			t.Error("the claim counts as held")
		}
	})
}

// A holder that was stopped, and whose machine's clock was set back meanwhile, may have lost
// its claim.
func TestAClaimIsTrustedByBothClocks(t *testing.T) {
	for _, c := range []struct {
		wall, monotonic time.Duration
		want            bool
	}{
		{-time.Hour, 0, true},
		{-time.Hour, leaseTrust + time.Second, false}, // set back
		{time.Hour, 0, false},                         // suspended
	} {
		held, renewed := &claim{}, ago(c.wall, c.monotonic)
		held.renewed.Store(&renewed)
		if got := held.requireFresh() == nil; got != c.want {
			t.Errorf("a claim that was renewed %s ago by the wall clock, %s by the monotonic one, is trusted: %t", c.wall, c.monotonic, got)
		}
	}
}

// ago returns a time so long ago by the wall clock, in whole seconds, and by the monotonic
// one: of a Time's first word, the seconds come above 30 bits of nanoseconds.
func ago(wall, monotonic time.Duration) time.Time {
	t := time.Now().Add(-monotonic)
	*(*uint64)(unsafe.Pointer(&t)) -= uint64((wall-monotonic)/time.Second) << 30
	return t
}
