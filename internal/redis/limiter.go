// Package redis shares the limits of accounts between several servers. One
// script decides about both windows at once, by the clock of Redis; where
// Redis does not answer, each server goes on by what it knows itself.
package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens/internal/auth"

	"github.com/redis/go-redis/v9"
)

//go:embed allow.lua
var allowScript string

const (
	// patience is how long a request may wait for Redis.
	patience = 50 * time.Millisecond
	// idleConnections are kept open; at most connections are used at a time.
	idleConnections = 32
	connections     = 64
	// rest is how long Redis is left alone after it failed; then one request
	// tries it again.
	rest = time.Second
)

// Limiter holds the limits of accounts together with other servers.
type Limiter struct {
	client      *redis.Client
	script      *redis.Script
	database    func() string // its identity: several may share a Redis
	minute, day int
	local       *auth.Limiter
	notice      func(error)
	patience    time.Duration // for one answer

	mu     sync.Mutex
	broken bool      // since the last answer
	next   time.Time // when to try again
}

// New returns a limiter on the Redis at an address such as
// redis://:password@host:6379/0 (rediss for TLS), which servers of one database share. It
// lets in so many calls in any 60 seconds and on a day of UTC, 0 for no limit. local counts
// with it, refuses what is beyond a limit by its own count, whatever Redis has lost, and
// decides alone while Redis is away; notice hears when that begins, and with nil when it ends.
func New(address string, database func() string, minute, day int, local *auth.Limiter, notice func(error)) (*Limiter, error) {
	return newLimiter(address, database, minute, day, local, notice, patience)
}

// errAddress does not repeat the address, which may hold a password.
var errAddress = errors.New("it is no address of a Redis; expected one like redis://:password@host:6379/0")

// scratchAccounts are so many that a node of a cluster meets names of another's slots,
// which it refuses.
const scratchAccounts = 16

// CheckScript runs the script for each scratch account in the Redis at an address, and
// returns the longest that one took: a replica, and a Redis that forbids scripts, answer a
// PING all the same. It counts nothing and leaves nothing there.
func CheckScript(ctx context.Context, address string) (slowest time.Duration, err error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return 0, errAddress
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	defer func() { err = errors.Join(err, client.Close()) }()
	for i := range scratchAccounts {
		prefix := fmt.Sprintf("adlens:{doctor:%d}:", i)
		names, began := []string{prefix + "minute", prefix + "day"}, time.Now()
		if err := redis.NewScript(allowScript).Run(ctx, client, names, 1, 1, 0).Err(); err != nil {
			return 0, err
		}
		slowest = max(slowest, time.Since(began))
	}
	return slowest, nil
}

func newLimiter(address string, database func() string, minute, day int, local *auth.Limiter, notice func(error), patience time.Duration) (*Limiter, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, errAddress
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = patience, patience, patience, patience
	options.MaxRetries, options.DialerRetries = -1, 1
	options.ContextTimeoutEnabled = true
	// A burst finds connections that are open, and one that it has to open costs
	// no question about versions first: patience is short.
	options.Protocol, options.DisableIdentity = 2, true
	options.MinIdleConns, options.PoolSize = idleConnections, connections
	l := &Limiter{client: redis.NewClient(options), script: redis.NewScript(allowScript), database: database, minute: minute, day: day,
		local: local, notice: notice, patience: patience}
	// A Redis that knows the script already answers the first calls in one round. One
	// that is away is broken from the start.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.answered(l.script.Load(ctx, l.client).Err(), time.Now())
	return l, nil
}

// Broken reports whether Redis did not answer the last time, or refused.
func (l *Limiter) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Close gives the connections back.
func (l *Limiter) Close() error { return l.client.Close() }

// AllowKey decides about a call of an account's key; a zero KeyLimit is no limit of
// the key.
func (l *Limiter) AllowKey(account string, key auth.KeyLimit, now time.Time) auth.Decision {
	if !l.try(now) {
		return l.local.AllowKey(account, key, now)
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.patience)
	defer cancel()
	// What Redis lost or never saw counts as well: calls of before it was emptied or while
	// it was away, and those of servers without it.
	known := l.local.PeekKey(account, key, now)
	// One slot of a cluster has all that is counted of an account.
	prefix, quotas := "adlens:{"+l.database()+":"+account+"}:", []auth.Quotas{{Minute: l.minute, Day: l.day}}
	names := []string{prefix + "minute", prefix + "day"}
	if key.Quotas != (auth.Quotas{}) {
		names, quotas = append(names, prefix+key.KeyID+":minute", prefix+key.KeyID+":day"), append(quotas, key.Quotas)
	}
	var values []any
	for _, q := range quotas {
		values = append(values, q.Minute, q.Day)
	}
	values = append(values, known.Allowed)
	reply, err := l.script.Run(ctx, l.client, names, values...).Int64Slice()
	if want := 1 + replyFields*len(quotas); err == nil && len(reply) != want {
		err = fmt.Errorf("the script answered %d numbers, expected %d", len(reply), want)
	}
	l.answered(err, now)
	if err != nil {
		return l.local.AllowKey(account, key, now)
	}
	d := decision(reply, quotas)
	if d.Allowed {
		known.Windows = l.local.CountKey(account, key, now)
	} else if known.RetryAfter > d.RetryAfter {
		d.Limit, d.Own, d.RetryAfter = known.Limit, known.Own, known.RetryAfter
	}
	d.Windows = auth.Tightest(slices.Concat(d.Windows, known.Windows))
	return d
}

// The client library would write to standard error by itself; what matters goes
// through notice.
func init() { redis.SetLogger(quiet{}) }

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// The numbers of the script's answer for each whose calls are counted, after the
// first, which is 1 for a call that is let in; times are in microseconds.
const (
	replyMinuteUsed = iota
	replyMinuteReset
	replyMinuteWait
	replyDayUsed
	replyDayReset
	replyDayWait
	replyFields
)

// decision reads the script's answer for the quotas of an account and, after it, of a
// key.
func decision(reply []int64, quotas []auth.Quotas) auth.Decision {
	d := auth.Decision{Allowed: reply[0] == 1}
	for i, q := range quotas {
		said := reply[1+i*replyFields:]
		for _, w := range []struct {
			name               string
			quota, length      int
			used, reset, waits int64
		}{
			{auth.LimitMinute, q.Minute, 60, said[replyMinuteUsed], said[replyMinuteReset], said[replyMinuteWait]},
			{auth.LimitDay, q.Day, 86_400, said[replyDayUsed], said[replyDayReset], said[replyDayWait]},
		} {
			if w.quota == 0 {
				continue
			}
			d.Windows = append(d.Windows, auth.Window{Name: w.name, Quota: w.quota, WindowSeconds: w.length,
				Remaining: max(0, w.quota-int(w.used)), ResetSeconds: int((w.reset + 999_999) / 1_000_000)})
			if wait := time.Duration(w.waits) * time.Microsecond; wait > d.RetryAfter {
				d.Limit, d.Own, d.RetryAfter = w.name, i > 0, wait
			}
		}
	}
	d.Windows = auth.Tightest(d.Windows)
	return d
}

// try reports whether Redis is to be asked: always while it answers, and once in
// a while where it does not.
func (l *Limiter) try(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.broken {
		return true
	}
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(rest)
	return true
}

func (l *Limiter) answered(err error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.broken
	l.broken = err != nil
	if l.broken {
		l.next = now.Add(rest)
	}
	if l.broken != was {
		l.notice(err)
	}
}
