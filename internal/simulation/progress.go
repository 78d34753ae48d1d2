package simulation

import (
	"context"
	"fmt"
	"slices"

	"adlens/loader"
)

// readRow is a row of the table of what was read through a connection: a server does
// not request the report once more.
type readRow struct {
	account string
	file    int // of the universe
}

// loadAndNote loads files, and, in runs about backups, notes which reports are read by
// that, as a connection does. A kill in between leaves a report that is visible and not
// noted, which is taken up again; never one that is noted and not visible.
func (p *process) loadAndNote(ctx context.Context, o *op) {
	w := p.world
	note := func(files []int) {
		files = slices.DeleteFunc(slices.Clone(files), func(f int) bool { return w.plan.universe.files[f].kind != "report" })
		if w.plan.World != Backups || len(files) == 0 {
			return
		}
		p.write(ctx, "insert refreshed", fmt.Sprint(files), func() {
			for _, f := range files {
				w.readRows = append(w.readRows, readRow{o.account, f})
			}
		})
	}
	if w.broken == ReadFirst {
		note(o.files)
	}
	result, _ := p.load(ctx, o)
	var loaded []int
	for _, f := range result.Files {
		if f.Status == loader.Loaded {
			loaded = append(loaded, w.plan.universe.paths[f.File])
		}
	}
	if w.broken != ReadFirst {
		note(loaded)
	}
}

// compareRead makes sure that what a restored account notes as read is visible in it:
// it would never be requested again.
func (t *truth) compareRead(restored *world, v visible) {
	for _, row := range restored.readRows {
		isSame := func(l fileLoad) bool { return l.file == row.file }
		if row.account == t.account && !slices.ContainsFunc(v.all(), isSame) {
			t.fail("a restored account notes %s as read, and does not have it", t.world.plan.universe.title(row.file))
		}
	}
}
