package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
	"adlens/internal/recent"
)

// A lease lets one process at a time do a thing that has a name, such as
// writing an account's data, on a server that several machines share, where no
// file lock reaches. Claims are rows (their account_id is the name, which for
// writing is the account): a process inserts its claim and then
// looks for others; it goes on only where it sees none, and otherwise
// withdraws. Of two that claim at once, at least one sees the other.
const (
	leaseLife  = 60 * time.Second // a claim that is not renewed for so long is dead
	leaseBeat  = 5 * time.Second  // how often a claim is renewed
	leaseTrust = 30 * time.Second // a holder that could not renew for so long stops
)

// lastBeat is the beat of a claim that was withdrawn: no other is above it.
const lastBeat = "toDateTime64('2262-01-01', 9, 'UTC')"

// Leases locks names by claims in the database itself.
type Leases struct{ Cluster *Cluster }

// Lock claims a name, waiting for other holders.
func (l Leases) Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error) {
	for told := false; ; told = true {
		c := l.newClaim(name) // each time another one: a claim that was withdrawn stays so
		try := c.tryName
		if told {
			try = c.tryFree
		}
		other, err := try(ctx)
		if err != nil {
			return nil, err
		}
		if other == "" {
			return c.keepAlive(), nil
		}
		if !told {
			waiting(other)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500*time.Millisecond + mathrand.N(time.Second)):
		}
	}
}

// Try claims a name unless it is held.
func (l Leases) Try(ctx context.Context, name string) (release func() error, ok bool, err error) {
	c := l.newClaim(name)
	other, err := c.tryFree(ctx)
	if err != nil || other != "" {
		return nil, false, err
	}
	return c.keepAlive(), true, nil
}

// Held reports whether a name is held.
func (l Leases) Held(ctx context.Context, name string) (bool, error) {
	other, err := l.newClaim(name).findOther(ctx)
	return other != "", err
}

func (l Leases) newClaim(name string) *claim {
	return &claim{cluster: l.Cluster, name: name, token: rand.Text(), holder: thisProcess()}
}

func thisProcess() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
}

type claim struct {
	cluster             *Cluster
	name, token, holder string
	renewed             atomic.Pointer[time.Time] // nil for never
}

// sighting is when this process first saw a claim's last beat.
type sighting struct {
	beat int64
	seen time.Time
}

// tryName claims and returns "", or withdraws and returns who holds the name.
func (c *claim) tryName(ctx context.Context) (other string, err error) {
	err = c.renew(ctx, time.Now())
	if err == nil {
		other, err = c.findOther(ctx)
	}
	if err == nil && other == "" {
		c.cluster.CatchUp() // with what the holder before wrote, on any shard
		return "", nil
	}
	return other, errors.Join(err, c.withdraw(ctx))
}

// tryFree is tryName where nothing is claimed while another one holds the name: looking
// costs less than claiming, and leaves no trace.
func (c *claim) tryFree(ctx context.Context) (other string, err error) {
	other, err = c.findOther(ctx)
	if err == nil && other == "" {
		other, err = c.tryName(ctx)
	}
	return other, err
}

// withdraw ends the claim, also where the caller was stopped: its row would go on to lock
// a name that no process holds. A claim that failed may have been written, or be written
// later, by a server that goes on with a statement whose client has left.
func (c *claim) withdraw(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), conn.DialPatience)
	defer cancel()
	return c.cluster.Home().Exec(ctx, `
INSERT INTO leases (account_id, token, holder, expires_at, beat)
SELECT {account:String}, {token:String}, {holder:String}, now64(3), `+lastBeat, c.params())
}

// keepAlive keeps the claim alive until it is released.
func (c *claim) keepAlive() (release func() error) {
	c.cluster.claims.Store(c.name, c)
	beating, stop := context.WithCancel(context.Background())
	go c.keepRenewing(beating)
	return func() error {
		stop()
		c.cluster.claims.CompareAndDelete(c.name, c)
		return c.withdraw(context.Background())
	}
}

// findOther returns who else holds the name, "" for no other holder.
func (c *claim) findOther(ctx context.Context) (other string, err error) {
	asked := time.Now()
	params := conn.Params{"account": query.Text(c.name), "token": c.token, "life": conn.Number(uint32(leaseLife.Seconds()))}
	var silent []*claim
	err = c.cluster.Home().Read(ctx, `
SELECT token, argMax(holder, beat), toUnixTimestamp64Nano(max(beat)), argMax(expires_at, beat) > now64(3) + {life:UInt32}
FROM leases
WHERE account_id = {account:String} AND token != {token:String}
GROUP BY token
HAVING argMax(expires_at, beat) > now64(3) AND max(beat) < `+lastBeat, params, conn.EachRow(func(scan conn.Scan) error {
		found := &claim{cluster: c.cluster, name: c.name}
		var beat int64
		var isAhead bool
		err := scan(&found.token, &found.holder, &beat, &isAhead)
		if isAhead && c.cluster.isSilent(found.token, beat, asked) {
			silent = append(silent, found)
		} else {
			other = found.holder
		}
		return err
	}))
	for _, s := range silent { // also for others, and so that its holder moves no account any more
		err = errors.Join(err, s.withdraw(ctx))
		c.cluster.sightings.Delete(s.token)
	}
	return other, err
}

// isSilent reports whether a claim that a clock that was ahead wrote, and which would lock
// its name until that time comes, has had the same beat for as long as a claim lives: its
// holder has stopped. One that lives renews it by the clock of now.
func (c *Cluster) isSilent(token string, beat int64, asked time.Time) bool {
	last, ok := c.sightings.Load(token)
	if !ok || last.(sighting).beat != beat {
		c.sightings.Store(token, sighting{beat, time.Now()})
		return false
	}
	return asked.Sub(last.(sighting).seen) > leaseLife
}

// renew writes the claim for its life from now, by the server's clock. It counts as
// renewed when that was asked. Its beat is above all beats before: by a clock that was set
// back alone, the row before would go on to count. A claim that was withdrawn stays so.
func (c *claim) renew(ctx context.Context, asked time.Time) error {
	params := c.params()
	params["life"] = conn.Number(uint32(leaseLife.Seconds()))
	err := c.cluster.Home().Exec(ctx, `
INSERT INTO leases (account_id, token, holder, expires_at, beat)
SELECT {account:String}, {token:String}, {holder:String}, now64(3) + {life:UInt32}, greatest(now64(9, 'UTC'), max(beat) + INTERVAL 1 NANOSECOND)
FROM leases
WHERE account_id = {account:String} AND token = {token:String}
HAVING max(beat) < `+lastBeat, params)
	if err == nil {
		c.renewed.Store(&asked)
	}
	return err
}

func (c *claim) params() conn.Params {
	return conn.Params{"account": query.Text(c.name), "token": c.token, "holder": query.Text(c.holder)}
}

// keepRenewing renews the claim until the context ends. One that may have died is
// left dead: another process may hold the name by now.
func (c *claim) keepRenewing(ctx context.Context) {
	ticker := time.NewTicker(leaseBeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			asked := time.Now() // before the look: who stands still behind it has not renewed
			if c.requireFresh() != nil {
				return
			}
			within, cancel := context.WithTimeout(ctx, 2*leaseBeat) // a replica that stands still is left for another
			c.renew(within, asked)                                  // failures show in requireFresh
			cancel()
		}
	}
}

// requireFresh fails where the claim may have died without its holder knowing.
func (c *claim) requireFresh() error {
	if renewed := c.renewed.Load(); renewed == nil || recent.Elapsed(*renewed, time.Now()) > leaseTrust {
		return fmt.Errorf("the lock on %s could not be renewed; another process may have it", c.name)
	}
	return nil
}

// RequireHeld fails where the lock on an account may have been lost. It is called
// before anything becomes visible or is noted as loaded, and before rows of a restore are
// written. Accounts that are locked otherwise have no claim.
func (c *Cluster) RequireHeld(account string) error {
	if c, ok := c.claims.Load(account); ok {
		return c.(*claim).requireFresh()
	}
	return nil
}
