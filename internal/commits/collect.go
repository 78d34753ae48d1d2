package commits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// End notes what the session has made dead, and says that it is known what
// became of its numbers. A session that is not ended this way is cleared up
// after by the next one. One that reserved numbers and committed nothing makes
// sure that what it read is still live: its caller has said that nothing had to
// change. One that reserved none has nothing to end.
func (s *Session) End(ctx context.Context) error {
	if s.end == 0 {
		return nil
	}
	if !s.certain || !s.orderly {
		if err := s.Confirm(ctx); err != nil {
			return err
		}
	}
	if err := s.noteDead(ctx, s.dead); err != nil {
		return err
	}
	s.dead = nil
	if !s.orderly {
		if err := s.noteLeft(ctx); err != nil {
			return err
		}
	}
	known := s.end
	if s.open > 0 {
		known = s.first
	}
	return s.port.Settled().Append(ctx, s.account, tables.Settled{Next: known})
}

func (s *Session) noteDead(ctx context.Context, dead []manifest.Entry) error {
	var notes []tables.Dead
	for _, e := range dead {
		for _, table := range tables.OfKind(e.Kind) {
			notes = append(notes, tables.Dead{Table: table, Generation: e.Generation})
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return s.port.Dead().Append(ctx, s.account, notes...)
}

// noteLeft notes the rows that earlier sessions left behind. A generation below
// the session's numbers that is not live now never will be; greater ones may be
// another writer's, who has taken over meanwhile.
func (s *Session) noteLeft(ctx context.Context) error {
	counts, err := s.port.CountRows(ctx, s.account, tables.OfGenerations()...)
	if err != nil {
		return err
	}
	noted, err := s.port.Dead().Read(ctx, s.account)
	if err != nil {
		return err
	}
	known := map[tables.Dead]bool{}
	for _, n := range noted {
		known[tables.Dead{Table: n.Table, Generation: n.Generation}] = true
	}
	live := liveGenerations(s.manifest)
	var notes []tables.Dead
	for _, c := range counts {
		note := tables.Dead{Table: c.Table, Generation: c.Generation}
		if c.Generation < s.first && !live[c.Generation] && !known[note] {
			notes = append(notes, note)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return s.port.Dead().Append(ctx, s.account, notes...)
}

func liveGenerations(m manifest.Manifest) map[uint32]bool {
	live := make(map[uint32]bool, m.Len())
	for _, e := range m.Entries() {
		live[e.Generation] = true
	}
	return live
}

// Trim deletes the rows of the record that no reader needs any more: those
// below the oldest live commit, when that one is older than every reader. The record is
// what the session read when it last made sure of its place in it: nothing that was
// below its oldest live commit then is needed later.
func (s *Session) Trim(ctx context.Context, after time.Duration) error {
	if s.end == 0 {
		return nil // the session that wrote last has done so
	}
	chain, err := manifest.FollowChain(s.record)
	if err != nil {
		return damagedError(s.account, err)
	}
	root := chain.Root()
	if !slices.ContainsFunc(s.record, func(c manifest.Commit) bool { return c.Number < root }) {
		return nil
	}
	now, err := s.port.Now(ctx, s.account)
	if err != nil || now.Sub(chain[len(chain)-1].At) < after {
		return err
	}
	for _, deleteBelow := range []func(context.Context, string, uint32) error{
		s.port.Units().DeleteBelow, s.port.Commits().DeleteBelow, s.port.Seals().DeleteBelow,
		s.port.Reservations().DeleteBelow, s.port.Settled().DeleteBelow,
	} {
		if err := deleteBelow(ctx, s.account, root); err != nil {
			return err
		}
	}
	return nil
}

// Unsettled returns the accounts of which a session is under way or did not end
// well.
func Unsettled(ctx context.Context, port tables.Port) ([]string, error) {
	reservations, err := port.Reservations().ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	settled, err := port.Settled().ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	var accounts []string
	for account, all := range reservations {
		known := newestSettled(settled[account])
		if slices.ContainsFunc(all, func(r tables.Reservation) bool { return r.Next > known }) {
			accounts = append(accounts, account)
		}
	}
	slices.Sort(accounts)
	return accounts, nil
}

// DeleteDead deletes rows of generations, of one account or, for "", of all,
// that were noted longer ago than after, where the first of their table was
// noted longer ago than oldest: what many loads leave goes together.
func DeleteDead(ctx context.Context, port tables.Port, account string, after, oldest time.Duration) error {
	notes, err := readDead(ctx, port, account)
	if err != nil || len(notes) == 0 {
		return err
	}
	// Servers date rows each by its own clock.
	nows := map[string]time.Time{}
	for _, account := range slices.Sorted(maps.Keys(notes)) {
		now, err := port.Now(ctx, account)
		switch {
		case adlens.KindOf(err) == adlens.Damaged: // where the account is, is lost
			delete(notes, account)
		case err != nil:
			return err
		}
		nows[account] = now
	}
	ripe := ripeOf(notes, nows, after, oldest)
	// A writer that was taken over may have noted what is live. Of an account
	// that is damaged it is not known what is, so nothing of it is deleted.
	states, spared := map[string]map[uint32]bool{}, map[string]bool{}
	for i, d := range ripe {
		if states[d.Account] == nil {
			state, err := Read(ctx, port, d.Account)
			if err != nil && adlens.KindOf(err) != adlens.Damaged {
				return err
			}
			states[d.Account] = liveGenerations(state.Manifest)
			spared[d.Account] = err != nil
		}
		ripe[i].Generations = slices.DeleteFunc(d.Generations, func(g uint32) bool { return spared[d.Account] || states[d.Account][g] })
	}
	ripe = slices.DeleteFunc(ripe, func(d tables.Deletion) bool { return len(d.Generations) == 0 })
	if len(ripe) == 0 {
		return nil
	}
	return port.DeleteRows(ctx, ripe)
}

func readDead(ctx context.Context, port tables.Port, account string) (map[string][]tables.Dead, error) {
	if account == "" {
		return port.Dead().ReadAll(ctx)
	}
	notes, err := port.Dead().Read(ctx, account)
	return map[string][]tables.Dead{account: notes}, err
}

// ripeOf returns the deletions whose time has come, in the order of tables and
// accounts.
func ripeOf(notes map[string][]tables.Dead, nows map[string]time.Time, after, oldest time.Duration) []tables.Deletion {
	type place struct{ table, account string }
	oldestOf := map[string]time.Duration{}       // age of the first note of a table
	ages := map[place]map[uint32]time.Duration{} // of each generation, since it was noted first
	for account, all := range notes {
		for _, n := range all {
			at, age := place{n.Table, account}, max(0, nows[account].Sub(n.NotedAt))
			if ages[at] == nil {
				ages[at] = map[uint32]time.Duration{}
			}
			ages[at][n.Generation] = max(ages[at][n.Generation], age)
			oldestOf[n.Table] = max(oldestOf[n.Table], age)
		}
	}
	var ripe []tables.Deletion
	for at, generations := range ages {
		if oldestOf[at.table] < oldest {
			continue
		}
		d := tables.Deletion{Table: at.table, Account: at.account}
		for g, age := range generations {
			if age >= after {
				d.Generations = append(d.Generations, g)
			}
		}
		slices.Sort(d.Generations)
		if len(d.Generations) > 0 {
			ripe = append(ripe, d)
		}
	}
	slices.SortFunc(ripe, func(a, b tables.Deletion) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Account, b.Account))
	})
	return ripe
}
