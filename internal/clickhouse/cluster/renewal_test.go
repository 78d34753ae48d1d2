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
