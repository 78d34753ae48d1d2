package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

// A process that was stopped for longer than its claim is trusted must not renew
// it: another one may hold the name. Renewing would need the cluster, which this
// claim does not have.
func TestAClaimThatMayHaveDiedIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claim{name: "acme"}
		c.renewed.Store(time.Now().Add(-leaseTrust - time.Second).UnixNano())
		c.keepRenewing(t.Context())
		if c.requireFresh() == nil {
			t.Error("the claim counts as held")
		}
	})
}

// A machine that was suspended counts none of that time, but for its wall clock. An account
// may have moved meanwhile, and what it had at the old place may be deleted.
func TestAPlaceIsNotBelievedAfterTheMachineWasSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fresh := newPlace(2, time.Now())
		time.Sleep(PlaceLife - time.Nanosecond)
		suspended, set := fresh, fresh
		suspended.asked, set.wall = time.Now(), time.Now().Add(time.Hour).UnixNano()
		if !fresh.isYounger(PlaceLife) {
			t.Error("a place is not believed for its life")
		}
		time.Sleep(time.Nanosecond)
		if suspended.isYounger(PlaceLife) || set.isYounger(PlaceLife) || fresh.isYounger(PlaceLife) {
			t.Errorf("a place is believed after its life: %t where the machine was suspended, %t where its clock was set", suspended.isYounger(PlaceLife), set.isYounger(PlaceLife))
		}
	})
}
