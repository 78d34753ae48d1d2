package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"adlens"
	"adlens/internal/auth"
)

// server is what lets requests in: the program's own authenticator, count of
// failures and limiter, on a model of the tables of keys and of the day's counts.
type server struct {
	*process
	number   int
	keys     *auth.Authenticator
	links    *auth.Authenticator
	failures *auth.Failures
	limiter  *auth.StoredLimiter
	troubles atomic.Int64            // calls to the store that failed
	unstored bool                    // its count could not be stored, and is let in all the same
	learnt   map[counted]int         // what others let in, as far as it has read
	allowed  map[counted][]time.Time // what it let in
	ready    bool
	latest   time.Time // of calls
	muddled  bool      // calls came in another order than their times
}

// counted is whose calls are counted: an account's, or those of one of its keys.
type counted struct{ account, key string }

// keyRow is a row of the table of keys.
type keyRow struct {
	record   auth.Record
	revision time.Time // see internal/clickhouse
}

// useRow is a row of the table of the day's counts.
type useRow struct {
	auth.DayUse
	server string
	at     time.Time
}

// lastRevision is that of a revocation.
var lastRevision = time.Date(2262, time.April, 11, 23, 47, 16, 0, time.UTC)

// address is that of a proxy which all clients share.
var address = netip.MustParseAddr("192.0.2.1")

// serverAt returns the server of a number, started where it does not run.
func (w *world) serverAt(number int) *server {
	s := w.servers[number]
	if s != nil && !s.killed {
		return s
	}
	w.starts++
	s = &server{process: w.start(fmt.Sprintf("server %d.%d", number+1, w.starts), true), number: number, learnt: map[counted]int{}, allowed: map[counted][]time.Time{}}
	w.servers[number] = s
	w.everServers = append(w.everServers, s)
	s.keys, s.links, s.failures = auth.NewAuthenticator(keyTable{s}), auth.NewAuthenticator(keyTable{s}), auth.NewFailures()
	if w.plan.Lock == lockFile { // all processes run on one machine
		s.keys.Trust(s.readMark)
		s.links.Trust(s.readMark)
	}
	local := auth.NewReservingLimiter(w.plan.Minute, w.plan.Day)
	s.limiter = auth.NewStoredLimiter(local, dayTable{s}, s.name, s.clock)
	s.limiter.Decide = func(account string, key auth.KeyLimit, now time.Time) (d auth.Decision) {
		// A turn of its own: of calls that go on at one moment, the seed says which
		// is first.
		s.local(context.Background(), "decide", fmt.Sprint(account, " ", key.KeyID, " ", now.Sub(twoHands(start, 0))), nil, func() {
			seen := now
			if w.broken == WallMinutes {
				seen = now.Round(0)
			}
			d = local.AllowKey(account, key, seen)
			s.decided(account, key, now, d)
		})
		return d
	}
	return s
}

func (s *server) clock() time.Time { return s.world.wallClock() }

// wallClock is that of processes, which may have been set while the monotonic one goes on.
func (w *world) wallClock() time.Time { return twoHands(w.now().Add(w.set), w.since()) }

// twoHands returns a time that has a monotonic reading, which there is none of
// in the bubble of a test. No function of package time makes one: of a Time's
// first word the highest bit says that there is a reading, then come the seconds
// since 1885 and the nanoseconds; the second word is the reading.
func twoHands(wall time.Time, monotonic time.Duration) time.Time {
	t := wall.UTC()
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] = 1<<63 | uint64(wall.Unix()-time.Date(1885, time.January, 1, 0, 0, 0, 0, time.UTC).Unix())<<30 | uint64(wall.Nanosecond())
	words[1] = uint64(monotonic + time.Second)
	return t
}

// readMark reads the mark of the directory.
func (s *server) readMark() (mark uint64, settled bool) { return s.process.readMark("") }

// keyTable is the table of keys, and that of links, as a server reads them.
type keyTable struct{ *server }

// KeyByHash returns what the row with the greatest revision says.
func (t keyTable) KeyByHash(ctx context.Context, hash [32]byte) (r auth.Record, found bool, err error) {
	number := slices.IndexFunc(t.world.secrets, func(k auth.Key) bool { return k.Hash() == hash })
	if t.world.broken == KeptKeys && number >= 0 && t.world.kept[t.name][number].ID != "" {
		return t.world.kept[t.name][number], true, nil
	}
	err = t.read(ctx, "select key", fmt.Sprint(number), func() error {
		r, found = newestRow(*t.world.rowsLike(number), hash)
		return nil
	})
	if err != nil {
		t.troubles.Add(1)
	}
	if found && t.world.broken == KeptKeys {
		if t.world.kept[t.name] == nil {
			t.world.kept[t.name] = map[int]auth.Record{}
		}
		t.world.kept[t.name][number] = r
	}
	return r, found, err
}

func newestRow(rows []keyRow, hash [32]byte) (auth.Record, bool) {
	var newest *keyRow
	for i, row := range rows {
		if row.record.Hash == hash && (newest == nil || newest.revision.Before(row.revision)) {
			newest = &rows[i]
		}
	}
	if newest == nil {
		return auth.Record{}, false
	}
	return newest.record, true
}

// putKey adds a key or a link, or changes one. The database numbers the change when it is
// carried out.
func (p *process) putKey(ctx context.Context, r auth.Record) error {
	w := p.world
	return p.announce(ctx, "", func() error {
		return p.write(ctx, "insert key", r.ID, func() {
			revision := w.storeNow().Round(0)
			rows := w.rowsLike(slices.IndexFunc(w.secrets, func(k auth.Key) bool { return k.Hash() == r.Hash }))
			for _, row := range *rows {
				if row.record.Hash != r.Hash || w.broken == KeysByClock {
					continue
				}
				if row.record.RevokedAt != nil && r.RevokedAt == nil {
					return
				}
				if !revision.After(row.revision) {
					revision = row.revision.Add(1)
				}
			}
			if r.RevokedAt != nil && w.broken != KeysByClock {
				revision = lastRevision
			}
			*rows = append(*rows, keyRow{r, revision})
		})
	})
}

// dayTable is the table of the day's counts as a server reaches it.
type dayTable struct{ *server }

// PutDayUses notes how many requests were let in or reserved.
func (t dayTable) PutDayUses(ctx context.Context, name string, uses []auth.DayUse, at time.Time) error {
	slices.SortFunc(uses, func(a, b auth.DayUse) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Key, b.Key))
	})
	insert := func() {
		for _, u := range uses {
			t.world.useRows = append(t.world.useRows, useRow{u, name, at})
		}
	}
	if t.world.broken == CountBehind {
		t.world.late = append(t.world.late, &lateInsert{what: "counts of " + name, from: t.world.steps + 40, piece: func() {
			if !t.killed {
				insert()
			}
		}})
		return nil
	}
	err := t.write(ctx, "insert counts", fmt.Sprint(uses), insert)
	if t.unstored = err != nil; err != nil {
		t.troubles.Add(1)
	}
	return err
}

// DayUses reads what all other servers let in or reserved on a day.
func (t dayTable) DayUses(ctx context.Context, name string, day adlens.Day) (uses []auth.DayUse, err error) {
	learnt := map[counted]int{}
	for _, of := range t.world.everCounted() {
		learnt[of] = t.world.letInElsewhere(t.server, of, true)
	}
	err = t.read(ctx, "select counts", "", func() error {
		newest := map[counted]map[string]useRow{}
		for _, row := range t.world.useRows {
			of := counted{row.Account, row.Key}
			if newest[of] == nil {
				newest[of] = map[string]useRow{}
			}
			if before, ok := newest[of][row.server]; row.Day == day && row.server != name && (!ok || before.at.Before(row.at)) {
				newest[of][row.server] = row
			}
		}
		for _, of := range t.world.everCounted() {
			u := auth.DayUse{Account: of.account, Key: of.key, Day: day}
			for _, row := range newest[of] {
				u.Used += row.Used
			}
			if t.world.broken != CountForgotten {
				uses = append(uses, u)
			}
		}
		return nil
	})
	if err != nil {
		t.troubles.Add(1)
		return nil, err
	}
	t.learnt = learnt
	return uses, nil
}

// request sends a request with a key, or a link's token, to a server, and returns what came of it:
// "let in", the limit that it has to wait for, "no key", or "" where nothing
// follows from it.
func (s *server) request(ctx context.Context, kind *auth.Link, key auth.Key) string {
	now, troubles := s.clock(), s.troubles.Load()
	if s.world.broken == SuspectsOut && s.failures.Wait(address, now) > 0 {
		return auth.LimitAddress
	}
	record, wait, err := s.failures.Guard(address, now, func(suspect bool) (auth.Record, error) {
		return s.authenticate(ctx, kind, key, suspect, now)
	})
	var d auth.Decision
	if err == nil {
		d = s.limiter.AllowKey(record.AccountID, auth.KeyLimit{KeyID: record.ID, Quotas: record.Limits}, now)
	}
	switch {
	case s.killed:
		return ""
	case wait > 0:
		return auth.LimitAddress
	case errors.Is(err, auth.ErrInvalidKey):
		return "no key"
	case err != nil:
		if s.troubles.Load() == troubles {
			s.world.fail("a request fails without a cause: %v", err)
		}
		return ""
	case !d.Allowed:
		return d.Limit
	}
	return "let in"
}
