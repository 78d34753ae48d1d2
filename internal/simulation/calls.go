package simulation

import (
	"context"
	"fmt"
	"strings"

	"adlens/internal/tables"
)

// local parks a call that does not reach the store.
func (p *process) local(ctx context.Context, name, detail string, ready func() bool, do func()) error {
	return p.world.run(&call{process: p, ctx: ctx, name: name, detail: detail, ready: ready, local: true, do: func() error {
		do()
		return nil
	}})
}

// read parks a call that reads what is of no account.
func (p *process) read(ctx context.Context, name, detail string, do func() error) error {
	return p.readAt(ctx, func() (*shard, error) { return p.world.home(), nil }, name, detail, do)
}

// readOf parks a call that reads of an account, where the process takes it to be.
func (p *process) readOf(ctx context.Context, account, name, detail string, do func() error) error {
	return p.readAt(ctx, func() (*shard, error) { return p.findShard(ctx, account) }, name, detail, do)
}

// readAtEach parks a call that reads of all accounts, at one shard after the other, or at the one
// that the context has chosen.
func (p *process) readAtEach(ctx context.Context, name, detail string, do func() error) error {
	chosen, one := ctx.Value(chosenShard{}).(uint16)
	for _, at := range p.world.everywhere() {
		if one && at != nil && at.number != chosen {
			continue
		}
		if err := p.readAt(ctx, func() (*shard, error) { return at, nil }, name, detail, do); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) readAt(ctx context.Context, find func() (*shard, error), name, detail string, do func() error) error {
	for {
		if err := p.admit(ctx); err != nil {
			return err
		}
		at, err := find()
		if err != nil {
			return err
		}
		met := false
		err = p.world.run(&call{process: p, ctx: ctx, name: name, detail: at.detail(detail), do: p.onReplica(at, func() (err error) {
			if met = p.meetsDisk(); met {
				p.world.on(at, func() { err = do() })
			}
			return err
		})})
		if met || err != nil {
			return err
		}
		p.forgetAll() // and the statement is begun once more
	}
}

// write parks an insert of what is of no account. It is carried out in pieces, each wholly or
// not.
func (p *process) write(ctx context.Context, name, detail string, pieces ...func()) error {
	return p.writeAt(ctx, p.world.home(), name, detail, pieces)
}

// writeOf parks an insert of an account, where the process takes it to be.
func (p *process) writeOf(ctx context.Context, account, name, detail string, pieces ...func()) error {
	at, err := p.findShard(ctx, account)
	if err != nil {
		return err
	}
	return p.writeAt(ctx, at, name, detail, pieces)
}

// writeAt parks an insert at a shard. Its pieces are carried out there, however late.
func (p *process) writeAt(ctx context.Context, at *shard, name, detail string, pieces []func()) error {
	all := make([]func(), len(pieces))
	for i, piece := range pieces {
		all[i] = func() { p.world.on(at, piece) }
	}
	return p.world.run(&call{process: p, ctx: ctx, name: name, detail: at.detail(detail), pieces: all})
}

// deleteAt parks deletions, those of one shard after those of the other, as DeleteRows of
// internal/clickhouse/tables does.
func (p *process) deleteAt(ctx context.Context, deletions []tables.Deletion) error {
	those := map[*shard][]tables.Deletion{}
	for _, d := range deletions {
		at, err := p.findShard(ctx, d.Account)
		if err != nil {
			return err
		}
		those[at] = append(those[at], d)
	}
	for _, at := range p.world.everywhere() {
		var pieces []func()
		for _, d := range those[at] {
			pieces = append(pieces, func() { p.world.rows.DeleteRows(ctx, []tables.Deletion{d}) })
		}
		if len(pieces) == 0 {
			continue
		}
		if err := p.writeAt(ctx, at, "delete rows", fmt.Sprintf("%+v", those[at]), pieces); err != nil {
			return err
		}
	}
	return nil
}

// begunBuilding notes that a session writes what it is going to commit.
func (p *process) begunBuilding(c *call) {
	if p.session != nil && c.pieces != nil && !strings.HasPrefix(c.name, "append ") {
		p.session.complete = true
	}
}
