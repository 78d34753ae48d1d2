package cluster

import "time"

// AgeClaim makes a claim look as if it could not be renewed for longer than it is
// trusted.
func (c *Cluster) AgeClaim(name string) {
	held, _ := c.claims.Load(name)
	held.(*claim).renewed.Store(time.Now().Add(-leaseTrust - time.Second).UnixNano())
}
