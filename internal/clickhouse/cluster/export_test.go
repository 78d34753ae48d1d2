package cluster

import (
	"context"
	"time"

	"adlens/internal/moves"
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

// AgePlaces makes what is known of places too old to be believed.
func (ps *Placements) AgePlaces() {
	now := ps.Now
	ps.Now = func() time.Time { return now().Add(moves.PlaceLife) }
}
