package simulation

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"adlens/internal/auth"
)

// keyTruth is what a key has to be, whatever is stored of it.
type keyTruth struct {
	created, doubtful bool          // its creation was answered; something about it was not
	expires           *time.Time    // by the servers' clocks
	revoked           time.Duration // when that was answered; 0 for not
	revoking          bool

	// Steps, 0 for not: when it was begun to be made, and that was answered; when it
	// was begun to be revoked, and that was answered.
	begun, made, ending, ended int
}

// obeyed is how long a running server may take to obey a revocation.
const obeyed = 2 * time.Second

// since is the time that has passed, by the clock that is never set.
func (w *world) since() time.Duration { return w.now().Sub(start) }

// operate creates, changes or revokes a key or a link.
func (p *process) operate(ctx context.Context, step Step) {
	w, truth := p.world, &p.world.keyTruths[step.Key]
	r := auth.Record{ID: fmt.Sprint("key ", step.Key), AccountID: w.accountOf(step.Key), Hash: w.secrets[step.Key].Hash(), Scopes: []string{auth.ScopeRead}, Limits: w.ownLimits(step.Key)}
	p.local(ctx, step.Do, fmt.Sprint("key ", step.Key), nil, func() {
		at := (&server{process: p}).clock().Round(0)
		switch step.Do {
		case "revoke":
			r.RevokedAt, truth.revoking, truth.ending = &at, true, cmp.Or(truth.ending, w.steps)
		case "create to expire":
			at = at.Add(step.Expires)
			r.ExpiresAt = &at
		}
	})
	if step.Do != "revoke" && truth.created || truth.doubtful {
		return // a key is made once
	}
	truth.begun = cmp.Or(truth.begun, w.steps)
	err := p.putKey(ctx, r)
	p.local(context.Background(), "done", brief(err), nil, func() {
		switch {
		case err != nil:
			truth.doubtful = true
		case step.Do == "revoke":
			truth.revoked, truth.ended = w.since(), w.steps
		default:
			truth.created, truth.expires, truth.made = true, r.ExpiresAt, w.steps
		}
	})
}

func (w *world) accountOf(key int) string { return w.plan.Accounts[key%len(w.plan.Accounts)] }

// ownLimits are those of a key: every other one has half of its account's.
func (w *world) ownLimits(key int) auth.Quotas {
	if key%2 == 0 {
		return auth.Quotas{}
	}
	return auth.Quotas{Minute: (w.plan.Minute + 1) / 2, Day: (w.plan.Day + 1) / 2}
}

// everCounted are all whose calls may be counted, in order.
func (w *world) everCounted() (all []counted) {
	for _, account := range w.plan.Accounts {
		all = append(all, counted{account: account})
	}
	for key := range w.secrets {
		if w.ownLimits(key) != (auth.Quotas{}) {
			all = append(all, counted{w.accountOf(key), fmt.Sprint("key ", key)})
		}
	}
	return all
}

// call sends requests one after the other, and compares what comes of them with
// what has to.
func (p *process) call(ctx context.Context, step Step) {
	for range step.Count {
		key, truth, kind := auth.NewKey(), keyTruth{}, (*auth.Link)(nil)
		if step.Key >= 0 {
			key, kind = p.world.secrets[step.Key], p.world.plan.linkOf(step.Key)
		}
		s := p.reach(ctx, step.Server)
		if s == nil {
			return // the run is over
		}
		var before time.Duration
		var wall time.Time
		p.local(ctx, "ask", fmt.Sprintf("server %d with key %d", step.Server+1, step.Key), nil, func() {
			if step.Key >= 0 {
				truth = p.world.keyTruths[step.Key]
			}
			before = p.world.since()
			wall = s.clock().Round(0)
		})
		if !s.ready || s.killed {
			continue // no connection
		}
		result := s.request(ctx, kind, key)
		p.local(ctx, "answered", result, nil, func() { p.judgeCall(s, step.Key, truth, before, wall, result) })
		p.wait(ctx, step.Pause)
	}
}

// judgeCall compares what came of a request with what the key was when it was
// sent.
func (p *process) judgeCall(s *server, number int, truth keyTruth, before time.Duration, wall time.Time, result string) {
	w, valid := p.world, truth.created && !truth.doubtful
	after := keyTruth{}
	if number >= 0 {
		after = w.keyTruths[number]
	}
	expired := truth.expires != nil && !wall.Before(*truth.expires)
	switch result {
	case "let in":
		switch {
		case number < 0:
			w.fail("a key that was never made is let in")
		case truth.revoked != 0 && before > truth.revoked+obeyed:
			w.fail("key %d is let in %s after it was revoked", number, before-truth.revoked)
		case valid && expired:
			w.fail("key %d is let in at %s, it expired at %s", number, wall.Format(time.TimeOnly), truth.expires.Format(time.TimeOnly))
		}
	case "no key", auth.LimitAddress:
		if valid && !expired && !after.revoking {
			w.fail("key %d is valid and is refused: %s", number, result)
		}
	}
}

// decided compares a decision with how many were let in, of the account and of a key
// that has limits of its own. What was let in before its server was killed counts;
// what was refused had to be for a reason.
func (s *server) decided(account string, key auth.KeyLimit, now time.Time, d auth.Decision) {
	if s.muddled = s.muddled || now.Before(s.latest); !s.muddled {
		s.latest = now
	}
	if d.Unreserved || s.killed {
		return
	}
	shared := auth.Quotas{Minute: s.world.plan.Minute, Day: s.world.plan.Day}
	s.judgeDecision(counted{account: account}, shared, !d.Own, now, d)
	if key.Quotas != (auth.Quotas{}) {
		s.judgeDecision(counted{account, key.KeyID}, key.Quotas, d.Own, now, d)
	}
}

// judgeDecision compares a decision with the calls of one of those that it counts for;
// refusing is set where a refusal is for its limit.
func (s *server) judgeDecision(of counted, quotas auth.Quotas, refusing bool, now time.Time, d auth.Decision) {
	w := s.world
	recent, all := 0, len(s.allowed[of])
	for _, at := range s.allowed[of] {
		if now.Sub(at) < time.Minute {
			recent++
		}
	}
	switch {
	case d.Allowed:
		s.allowed[of] = append(s.allowed[of], now)
		if quotas.Minute > 0 && recent >= quotas.Minute && !s.muddled {
			w.fail("%s: %d requests are let in within a minute, the limit is %d", of, recent+1, quotas.Minute)
		}
		if quotas.Day > 0 && all+s.learnt[of] >= quotas.Day {
			w.fail("%s: %d requests are let in on a day of which the server knows, the limit is %d", of, all+s.learnt[of]+1, quotas.Day)
		}
	case !refusing: // the other's limit
	case d.Limit == auth.LimitMinute:
		if recent < quotas.Minute && !s.muddled {
			w.fail("%s: refused by the minute's limit of %d after %d requests", of, quotas.Minute, recent)
		}
	case d.Limit == auth.LimitDay:
		if most := all + w.letInElsewhere(s, of, false) + w.spare(); most < quotas.Day {
			w.fail("%s: refused by the day's limit of %d, with at most %d requests let in or reserved", of, quotas.Day, most)
		}
	}
}

// spare is how many requests may be reserved by servers that do not let them in.
func (w *world) spare() int {
	clients := 0
	for _, a := range w.plan.Actors {
		if strings.HasPrefix(a.Kind, "client") {
			clients++
		}
	}
	return len(w.everServers) * (2*max(1, w.plan.Day/100) + clients)
}

// letInElsewhere is how many requests all other servers have let in, or those
// whose counts are stored.
func (w *world) letInElsewhere(s *server, of counted, storedOnly bool) (count int) {
	for _, other := range w.everServers {
		if other != s && !(storedOnly && other.unstored) {
			count += len(other.allowed[of])
		}
	}
	return count
}

// reach returns a server, started where it does not run: it reads the counts of
// the others before it lets a request in.
func (p *process) reach(ctx context.Context, number int) (s *server) {
	began := false
	p.local(ctx, "reach", fmt.Sprint("server ", number+1), nil, func() {
		before := p.world.servers[number]
		s = p.world.serverAt(number)
		began = s != before
	})
	for began && !s.killed && !s.ready {
		if err := s.limiter.ReadElsewhere(ctx); err == nil {
			p.local(ctx, "ready", fmt.Sprint("server ", number+1), nil, func() { s.ready = true })
		}
	}
	return s
}

// tick does what a server does every 250 ms.
func (p *process) tick(ctx context.Context, step Step) {
	for range step.Count {
		if s := p.reach(ctx, step.Server); s != nil && s.ready && !s.killed {
			s.limiter.Keep(ctx)
		}
		p.wait(ctx, step.Pause)
	}
}
