package simulation

import (
	"context"
	"errors"
	"slices"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// mark is the mark of an account, or of the directory.
type mark struct {
	number   uint64
	changing bool // a change of it is under way
}

// announce changes what is visible of an account, or of the directory where it is "", as
// Announce of internal/clickhouse/conn does.
func (p *process) announce(ctx context.Context, account string, change func() error) error {
	if p.world.broken == NoMark && account == "" || p.world.broken == UnmarkedCommit && account != "" {
		return change()
	}
	set := func(changing bool) error {
		return p.local(ctx, "announce", account, nil, func() {
			m := p.world.markOf(account)
			m.number, m.changing = m.number+1, changing
		})
	}
	if err := set(true); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return set(false)
}

func (w *world) markOf(account string) *mark {
	if w.marks[account] == nil {
		w.marks[account] = &mark{}
	}
	return w.marks[account]
}

// readMark reads the mark of an account, or of the directory where it is "".
func (p *process) readMark(account string) (number uint64, settled bool) {
	err := p.local(context.Background(), "mark", account, nil, func() {
		m := p.world.markOf(account)
		number, settled = m.number, !m.changing
	})
	return number, settled && err == nil
}

// maxSeen is how many accounts a reader remembers.
const maxSeen = 2

// seen is what a reader remembers of an account: what was visible when it was read.
type seen struct {
	manifest manifest.Manifest
	state    visible
	step     int
}

// viewSource is where the views of a reader are read.
type viewSource struct{ *process }

// Mark is settled only where all processes run on one machine.
func (s viewSource) Mark(account string) (mark uint64, settled bool) {
	if s.world.plan.Lock != lockFile {
		return 0, false
	}
	return s.readMark(account)
}

// Version reads the number of the newest commit.
func (s viewSource) Version(ctx context.Context, account string) (version uint32, err error) {
	s.catchUp("commits")
	err = s.readOf(ctx, account, "newest commit", account, func() error {
		all, err := s.world.rows.Commits().Read(ctx, account)
		version = newestCommit(all)
		return err
	})
	return version, err
}

// View reads the record of commits.
func (s viewSource) View(ctx context.Context, account string, _ seen) (seen, uint32, error) {
	state, err := commits.Read(ctx, port(s), account)
	return seen{state.Manifest, s.view, s.viewed}, state.Manifest.Version, err
}

// wasVisible makes sure that what an answer is of was visible at some moment since a step.
func (t *truth) wasVisible(v visible, since int) {
	for i := len(t.history) - 1; i >= 0; i-- {
		if was := t.history[i].visible; was.number == v.number && was.disk == v.disk {
			return
		}
		if t.history[i].step < since {
			break
		}
	}
	if t.world.plan.Replicas && slices.ContainsFunc(t.fenced, func(m moment) bool { return m.visible.number == v.number && m.step >= since }) {
		t.flickers++ // its replica had the commit before the fence
		return
	}
	if slices.ContainsFunc(t.strays, func(m moment) bool { return m.visible.number == v.number }) {
		t.flickers++ // it took the account to be where it was
		return
	}
	if t.vanished == "" {
		t.fail("a reader is answered of commit %d, which was replaced before it asked", v.number)
	}
}

// admit refuses what is asked of an account that lost something, where a read is the first
// one of an engine that was started.
func (p *process) admit(ctx context.Context) error {
	account, epoch := p.asked, p.world.epoch
	if looked, ever := p.looked[account]; account == "" || ever && looked == epoch || p.world.broken == BelieveRows {
		return nil
	}
	view, viewed := p.view, p.viewed // of the answer, which may be half read
	p.asked = ""
	defer func() { p.asked, p.view, p.viewed = account, view, viewed }()
	if p.guard != nil {
		return p.admitGuarded(ctx, account, epoch)
	}
	if err := p.inspect(ctx, account); err != nil {
		return err
	}
	if p.world.broken == DamageForAll {
		for _, other := range p.world.plan.Accounts {
			if err := p.inspect(ctx, other); err != nil {
				return err
			}
		}
	}
	p.looked[account] = epoch
	return nil
}

// inspect refuses an account that lost something, as the guard of
// internal/clickhouse does: what it misses twice is missing.
func (p *process) inspect(ctx context.Context, account string) error {
	first, err := p.faults(ctx, account)
	if err != nil || len(first) == 0 {
		return err
	}
	second, err := p.faults(ctx, account)
	second = slices.DeleteFunc(second, func(fault string) bool { return !slices.Contains(first, fault) })
	if err != nil || len(second) == 0 {
		return err
	}
	return &adlens.Error{Kind: adlens.Damaged, Err: errors.New(commits.Summary(second))}
}

func (p *process) faults(ctx context.Context, account string) ([]string, error) {
	state, err := commits.Read(ctx, port{p}, account)
	if err != nil {
		return nil, err
	}
	seals, err := port{p}.Seals().Read(ctx, account)
	if err != nil {
		return nil, err
	}
	counts, err := port{p}.CountRows(ctx, account, tables.OfGenerations()...)
	return commits.Faults(state, seals, counts), err
}
