package simulation

import (
	"context"
	"errors"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/tables"
)

// hasGuards reports whether the readers of a seed's run look through all accounts at once, as
// servers do, where those of others look at the one that they are asked about. They lose rows
// of several accounts, and bytes that change are as frequent as rows that vanish.
func hasGuards(p *Plan) bool {
	return slices.Contains([]uint64{9, 11, 14, 15}, p.Seed/16%16)
}

// guard is what a reader knows of what was lost, as internal/clickhouse/integrity does.
type guard struct {
	withheld  commits.Withheld
	epoch     int // of the engine that was looked through last
	inspected bool
}

// admitGuarded is admit of a reader with a guard.
func (p *process) admitGuarded(ctx context.Context, account string, epoch int) error {
	g := p.guard
	if !g.inspected || g.epoch != epoch {
		if err := p.inspectAll(ctx); err != nil {
			return err
		}
		g.epoch, g.inspected = epoch, true
	}
	if p.world.broken == DamageForAll {
		for _, of := range slices.Sorted(maps.Keys(g.withheld.Lost())) {
			account = of
		}
	}
	return g.withheld.Admit(account)
}

// inspectAll is Guard.Inspect.
func (p *process) inspectAll(ctx context.Context) error {
	var began int
	if err := p.local(ctx, "inspect", "", nil, func() { began = p.world.steps }); err != nil {
		return err
	}
	lost := map[string][]string{}
	for _, at := range p.world.everywhere() {
		losses, err := p.inspectShard(ctx, at)
		if err != nil {
			return err
		}
		for _, l := range losses {
			lost[l.Account] = append(lost[l.Account], l.What)
		}
	}
	return p.local(ctx, "inspected", "", nil, func() {
		for _, account := range slices.Sorted(maps.Keys(lost)) {
			p.withhold(account, began, lost[account])
		}
	})
}

// inspectShard looks through one of several shards, or the only server. What one misses of an
// account that is elsewhere is no loss.
func (p *process) inspectShard(ctx context.Context, at *shard) ([]commits.Loss, error) {
	if at != nil {
		ctx = onShard(ctx, at.number)
	}
	losses, err := commits.FindLosses(ctx, watched{port{p}})
	switch {
	case p.world.broken == LookOnce:
		losses, err = p.lookOnce(ctx)
	case adlens.KindOf(err) == adlens.Damaged && p.world.broken == UnreadHides:
		losses, err = p.findUnread(ctx)
	case adlens.KindOf(err) == adlens.Damaged:
		losses, err = commits.FindLossesEach(ctx, watched{port{p}})
	}
	if err != nil || at == nil || len(losses) == 0 {
		return losses, err
	}
	elsewhere := map[string]bool{}
	for _, account := range p.world.plan.Accounts {
		is, err := p.readPlace(ctx, account)
		if err != nil {
			return nil, err
		}
		elsewhere[account] = is.Shard != at.number
	}
	return slices.DeleteFunc(losses, func(l commits.Loss) bool { return elsewhere[l.Account] }), nil
}

func (p *process) withhold(account string, began int, faults []string) {
	if !p.excused && !p.world.lostSince(account, began) {
		p.world.truths[account].fail("it is withheld for %v, and nothing was lost", faults)
	}
	p.guard.withheld.Withhold(account, faults...)
}

// lookOnce is one of the two looks of commits.FindLosses.
func (p *process) lookOnce(ctx context.Context) (all []commits.Loss, err error) {
	db := watched{port{p}}
	states, _, err := commits.ReadAll(ctx, db)
	if err != nil {
		return nil, err
	}
	seals, err := db.Seals().ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := db.CountAll(ctx)
	for _, account := range p.world.plan.Accounts {
		of := slices.DeleteFunc(slices.Clone(counts), func(c tables.Count) bool { return c.Account != account })
		for _, fault := range commits.Faults(states[account], seals[account], of) {
			all = append(all, commits.Loss{Account: account, What: fault})
		}
	}
	return all, err
}

// findUnread only finds what cannot be read.
func (p *process) findUnread(ctx context.Context) (all []commits.Loss, err error) {
	for _, account := range p.world.plan.Accounts {
		_, err := commits.AccountLosses(ctx, watched{port{p}}, account)
		switch {
		case adlens.KindOf(err) == adlens.Damaged:
			all = append(all, commits.Loss{Account: account, What: err.Error(), Unread: true})
		case err != nil:
			return nil, err
		}
	}
	return all, nil
}

// goOnInspecting looks through everything, as servers do from time to time, and once more
// through an account that is withheld.
func (p *process) goOnInspecting(ctx context.Context, account string) error {
	if p.guard == nil || p.world.broken == BelieveRows {
		return nil
	}
	if err := p.inspectAll(ctx); err != nil || p.guard.withheld.Admit(account) == nil {
		return err
	}
	p.views.Forget(account)
	_, err := p.guard.withheld.LookAgain(account, func() ([]string, error) { return p.allFaults(ctx, account) })
	return err
}

// allFaults reads everything of an account, as Inspector.Faults does.
func (p *process) allFaults(ctx context.Context, account string) (faults []string, err error) {
	losses, err := commits.AccountLosses(ctx, watched{port{p}}, account)
	for _, l := range losses {
		faults = append(faults, l.What)
	}
	if err == nil && len(faults) == 0 {
		_, err = port{p}.ReadRows(ctx, account, tables.OfGenerations()...)
	}
	if adlens.KindOf(err) == adlens.Damaged {
		return []string{err.Error()}, nil
	}
	return faults, err
}

// readAll withholds the accounts of which some rows cannot be read, once such were met.
func (p *process) readAll(ctx context.Context, met error) error {
	if p.guard == nil || adlens.KindOf(met) != adlens.Damaged {
		return met
	}
	for _, account := range p.world.plan.Accounts {
		if p.guard.withheld.Admit(account) != nil {
			continue
		}
		var began int
		err := p.local(ctx, "read all", account, nil, func() { began = p.world.steps })
		faults, readErr := p.allFaults(ctx, account)
		if err = errors.Join(err, readErr); err != nil {
			return errors.Join(met, err)
		}
		if len(faults) > 0 {
			p.local(ctx, "withhold", account, nil, func() { p.withhold(account, began, faults) })
		}
	}
	return met
}

// watched is the store as a guard looks at it.
type watched struct{ port }

var _ commits.Database = watched{}

func (w watched) Accounts(ctx context.Context) ([]string, error) {
	all := map[string]bool{}
	records, err := w.Commits().ReadAll(ctx)
	for account := range records {
		all[account] = err == nil
	}
	if err != nil && adlens.KindOf(err) != adlens.Damaged {
		return nil, err
	}
	seals, err := w.Seals().ReadAll(ctx)
	if err != nil && adlens.KindOf(err) != adlens.Damaged {
		return nil, err
	}
	for account := range seals {
		all[account] = all[account] || err == nil
	}
	maps.DeleteFunc(all, func(_ string, read bool) bool { return !read })
	return slices.Sorted(maps.Keys(all)), nil
}

func (w watched) CountAll(ctx context.Context) ([]tables.Count, error) {
	return w.CountRows(ctx, "", tables.OfGenerations()...)
}

func (w watched) CountAnswered(ctx context.Context, account, table string) ([]tables.Count, error) {
	if table == "facts" {
		return w.ReadRows(ctx, account, table)
	}
	return w.CountRows(ctx, account, table)
}

// DirectoryLosses finds nothing: the directory loses nothing.
func (w watched) DirectoryLosses(context.Context) ([]commits.Loss, error) { return nil, nil }
