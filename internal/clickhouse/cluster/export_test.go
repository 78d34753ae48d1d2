package cluster

import (
	"context"
	"time"
)

// AgeClaim makes a claim look as if it could not be renewed for longer than it is
// trusted.
func (c *Cluster) AgeClaim(name string) {
	held, _ := c.claims.Load(name)
	aged := time.Now().Add(-leaseTrust - time.Second)
	held.(*claim).renewed.Store(&aged)
}

// AgeSightings makes claims look as if they had been seen first a lease's life ago.
func (c *Cluster) AgeSightings() {
	c.sightings.Range(func(token, last any) bool {
		c.sightings.Store(token, sighting{last.(sighting).beat, time.Now().Add(-leaseLife - time.Nanosecond)})
		return true
	})
}

// RenewalOf returns what renews a claim, for after it was withdrawn.
func (c *Cluster) RenewalOf(name string) func(context.Context) error {
	held, _ := c.claims.Load(name)
	return func(ctx context.Context) error { return held.(*claim).renew(ctx, time.Now()) }
}

// LookUpLate looks an account up as a server does whose answer, of before the account moved,
// comes late.
func (ps *Placements) LookUpLate(ctx context.Context, account string, shard uint16, begun chan<- struct{}, come <-chan struct{}) {
	ps.asking.Do(ctx, account, func(context.Context) (place, error) {
		close(begun)
		<-come
		return place{shard: shard, asked: time.Now().Add(-Settling)}, nil
	})
}

// AgePlace makes what is known of an account's place too old to be believed.
func (ps *Placements) AgePlace(account string) {
	p, _ := ps.known.Peek(account)
	p.asked = p.asked.Add(-PlaceLife)
	ps.known.Put(account, p)
}
