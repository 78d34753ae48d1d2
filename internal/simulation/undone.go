package simulation

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"adlens"
)

// diskCopy is a copy of the store's disk, with what was true then.
type diskCopy struct {
	rows   func() // puts them back
	ledger map[string][]ledgerRow
	truths map[string]truth
}

// useCopy copies the disk, or puts the copy back, at the steps of the plan.
func (w *world) useCopy() {
	if w.calm || w.plan.CopyAt == 0 {
		return
	}
	switch w.stormed++; {
	case w.stormed == w.plan.CopyAt:
		w.copyDisk()
	case slices.Contains(w.plan.BackAt, w.stormed):
		w.putBack()
	}
}

func (w *world) copyDisk() {
	w.trace.add("%d the disk is copied", w.steps)
	c := &diskCopy{rows: w.rows.Save(), ledger: map[string][]ledgerRow{}, truths: map[string]truth{}}
	for account, t := range w.truths {
		c.ledger[account] = slices.Clone(w.ledger[account])
		c.truths[account] = truth{now: t.now, states: maps.Clone(t.states), numbers: maps.Clone(t.numbers)}
	}
	w.diskCopy = c
}

// putBack ends the store and starts it with the copy of its disk. All who write have ended
// by then, and nothing that was on its way arrives.
func (w *world) putBack() {
	w.trace.add("%d the disk is put back as it was", w.steps)
	w.epoch++
	w.putBacks++
	w.late, w.claims, w.sessions = nil, map[string][]*process{}, map[string]*session{}
	for _, p := range w.processes {
		if p.writer {
			w.mu.Lock()
			p.killed = true
			w.mu.Unlock()
		}
	}
	r := w.eventRandom()
	for _, c := range slices.Clone(w.parked) {
		switch {
		case c.process.writer:
			w.finish(c, errKilled)
		case !c.local && r.IntN(2) == 0: // else it is sent to the store that is back
			c.broken = true
		}
	}
	w.diskCopy.rows()
	for account, t := range w.truths {
		was := w.diskCopy.truths[account]
		w.ledger[account] = slices.Clone(w.diskCopy.ledger[account])
		t.states, t.numbers = maps.Clone(was.states), maps.Clone(was.numbers)
		t.become(was.now)
	}
}

// meetsDisk reports whether a reader has met the disk that is there, as confirmServer of
// internal/clickhouse/conn does. Writers end with the disk.
func (p *process) meetsDisk() bool { return p.writer || p.met == p.world.putBacks }

// forgetAll drops what was read of another disk.
func (p *process) forgetAll() {
	p.met = p.world.putBacks
	if p.world.broken == KeptViews {
		return
	}
	for _, account := range p.world.plan.Accounts {
		p.views.Forget(account)
	}
}

// currentView reads an account, and of which disk.
func (p *process) currentView(ctx context.Context, account string) (v seen, met int, err error) {
	for again := true; again; again = met != p.met {
		met = p.met
		v, err = p.views.Current(ctx, account)
	}
	p.view, p.viewed = v.state, v.step
	return v, met, err
}

// requireKept is that of internal/answer.
func (p *process) requireKept(ctx context.Context, account string, v seen, met int) error {
	if met == p.met || p.world.broken == AnswerOn {
		return nil
	}
	now, err := p.views.Current(ctx, account)
	if err == nil && !reflect.DeepEqual(now.manifest, v.manifest) {
		err = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the disk was put back")}
	}
	return err
}
