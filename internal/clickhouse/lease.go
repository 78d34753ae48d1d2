package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"adlens/internal/query"
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

// Leases locks names by claims in the database itself.
type Leases struct{ DB *DB }

// Lock claims a name, waiting for other holders.
func (l Leases) Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error) {
	c := l.claim(name)
	for told := false; ; told = true {
		other, err := c.try(ctx)
		if err != nil {
			return nil, err
		}
		if other == "" {
			return c.hold(), nil
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

// Try claims a name unless somebody else does.
func (l Leases) Try(ctx context.Context, name string) (release func() error, ok bool, err error) {
	c := l.claim(name)
	// Looking costs less than claiming, and leaves no trace.
	other, err := c.others(ctx)
	if err == nil && other == "" {
		other, err = c.try(ctx)
	}
	if err != nil || other != "" {
		return nil, false, err
	}
	return c.hold(), true, nil
}

// Held tells whether somebody holds a name.
func (l Leases) Held(ctx context.Context, name string) (bool, error) {
	other, err := l.claim(name).others(ctx)
	return other != "", err
}

func (l Leases) claim(name string) *claim {
	return &claim{db: l.DB, name: name, token: rand.Text(), holder: thisProcess()}
}

func thisProcess() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
}

type claim struct {
	db                  *DB
	name, token, holder string
	renewed             atomic.Int64 // unix nanoseconds
}

// try claims and returns "", or withdraws and returns who holds the name.
func (c *claim) try(ctx context.Context) (other string, err error) {
	if err := c.put(ctx, leaseLife); err != nil {
		return "", err
	}
	other, err = c.others(ctx)
	if err == nil && other == "" {
		return "", nil
	}
	return other, errors.Join(err, c.put(ctx, 0))
}

// hold keeps the claim alive until it is released.
func (c *claim) hold() (release func() error) {
	c.db.claims.Store(c.name, c)
	beating, stop := context.WithCancel(context.Background())
	go c.beat(beating)
	return func() error {
		stop()
		c.db.claims.Delete(c.name)
		withdrawing, cancel := context.WithTimeout(context.Background(), dialPatience)
		defer cancel()
		return c.put(withdrawing, 0)
	}
}

// others returns who else holds the name, "" for nobody.
func (c *claim) others(ctx context.Context) (other string, err error) {
	err = c.db.home.reading(ctx, `
SELECT argMax(holder, beat)
FROM leases
WHERE account_id = {account:String} AND token != {token:String}
GROUP BY token
HAVING argMax(expires_at, beat) > now64(3)
LIMIT 1`, Params{"account": query.Text(c.name), "token": c.token}, each(func(scan func(...any) error) error { return scan(&other) }))
	return other, err
}

// put writes the claim for some time from now, by the server's clock.
func (c *claim) put(ctx context.Context, life time.Duration) error {
	asked := time.Now()
	err := c.db.home.exec(ctx, `
INSERT INTO leases (account_id, token, holder, expires_at, beat)
SELECT {account:String}, {token:String}, {holder:String}, now64(3) + {life:UInt32}, now64(9)`,
		Params{"account": query.Text(c.name), "token": c.token, "holder": query.Text(c.holder), "life": number(uint32(life.Seconds()))})
	if err == nil {
		c.renewed.Store(asked.UnixNano())
	}
	return err
}

func (c *claim) beat(ctx context.Context) {
	ticker := time.NewTicker(leaseBeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.put(ctx, leaseLife) // failures show in trusted
		}
	}
}

// trusted fails where the claim may have died without its holder knowing.
func (c *claim) trusted() error {
	if time.Since(time.Unix(0, c.renewed.Load())) > leaseTrust {
		return fmt.Errorf("the lock on %s could not be renewed; nothing was made visible", c.name)
	}
	return nil
}

// stillHeld is asked before anything becomes visible. Accounts that are
// locked otherwise have no claim.
func (db *DB) stillHeld(account string) error {
	if c, ok := db.claims.Load(account); ok {
		return c.(*claim).trusted()
	}
	return nil
}
