package simulation

import (
	"context"
	"slices"

	"adlens/internal/commits"
	"adlens/internal/manifest"
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
	err = s.read(ctx, "newest commit", account, func() error {
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
		if t.history[i].visible.number == v.number {
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
	if t.vanished == "" {
		t.fail("a reader is answered of commit %d, which was replaced before it asked", v.number)
	}
}
