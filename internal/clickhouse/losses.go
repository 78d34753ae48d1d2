package clickhouse

import (
	"cmp"
	"context"
	"slices"

	"adlens/internal/commits"
	"adlens/internal/flight"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// Loss is something that an account had and has no more.
type Loss struct {
	Account string
	What    string // for people who have to act on it
}

// Losses compares what is stored of an account, or of all where it is "", with
// what was loaded, and names what is missing. It costs little, and finds rows
// that went, not such that changed: that is what loader.Verify does.
func (db *DB) Losses(ctx context.Context, account string) ([]Loss, error) {
	if account != "" {
		s, err := db.holder(ctx, query.Text(account))
		if err != nil {
			return nil, err
		}
		all, err := s.losses(ctx)
		if err == nil && s != db.home {
			var directory []Loss
			directory, err = directoryLosses(ctx, db.home, account)
			all = append(all, directory...)
		}
		return slices.DeleteFunc(all, func(l Loss) bool { return l.Account != account }), err
	}
	all, err := gather(ctx, db, func(s *server) ([]Loss, error) { return s.losses(ctx) })
	return slices.Concat(all...), err
}

func (s *server) losses(ctx context.Context) ([]Loss, error) {
	p, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	return s.lossesAt(ctx, p)
}

// lossesAt looks twice where something seems to be missing: what the second
// look misses as well was committed before it began.
func (s *server) lossesAt(ctx context.Context, p *pool) ([]Loss, error) {
	first, err := s.look(ctx, p)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := s.look(ctx, p)
	return slices.DeleteFunc(second, func(l Loss) bool { return !slices.Contains(first, l) }), err
}

// look reads the record of commits before it counts rows, so that all that it
// names was there when it was counted.
func (s *server) look(ctx context.Context, p *pool) (all []Loss, err error) {
	port := smallTables{at: poolTables{s, p}}
	var seals map[string][]tables.Seal
	states, broken, err := commits.ReadAll(ctx, port)
	if err != nil {
		return nil, err
	}
	var counts []tables.Count
	var directory []Loss
	err = flight.Together(func() (err error) {
		seals, err = port.Seals().ReadAll(ctx)
		return err
	}, func() (err error) {
		counts, err = port.CountRows(ctx, "", tables.OfGenerations()...)
		return err
	}, func() (err error) {
		directory, err = directoryLosses(ctx, poolTables{s, p}, "")
		return err
	})
	if err != nil {
		return nil, err
	}
	byAccount := map[string][]tables.Count{}
	for _, c := range counts {
		byAccount[c.Account] = append(byAccount[c.Account], c)
	}
	for account := range seals {
		if _, known := states[account]; !known {
			states[account] = commits.State{}
		}
	}
	for account, state := range states {
		if err := broken[account]; err != nil {
			all = append(all, Loss{account, err.Error()})
			continue
		}
		for _, fault := range commits.Faults(state, seals[account], byAccount[account]) {
			all = append(all, Loss{account, fault})
		}
	}
	all = append(all, directory...)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(a.Account, b.Account) })
	return all, nil
}
