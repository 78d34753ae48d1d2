package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens"
)

// copyGenerations copies what is live of an account at one moment: the rows of
// that moment's manifest and of all its generations.
//
// Others load meanwhile, and the rows of what they supersede are deleted after
// a while. So a file counts only if it was read soon after the manifest named
// its generations as live, or if they are still live afterwards. When half of
// that time is over the manifest is read again, and what has changed is copied
// again: an account that is copied within minutes needs one round.
func (t *taking) copyGenerations(ctx context.Context) ([]Live, []File, error) {
	h, err := t.tableHeader(ctx, UnitTable)
	if err != nil {
		return nil, nil, err
	}
	copied := map[string]File{} // by name, which says which generations
	for {
		began := t.options.Now()
		live, err := t.Live(ctx, t.id, h)
		if err != nil {
			return nil, nil, err
		}
		all := groupUnits(live)
		whole, err := t.copyRound(ctx, all, copied, began)
		if err != nil {
			return nil, nil, err
		}
		if whole {
			files, err := t.writeManifest(ctx, h, live, all, copied)
			return live, files, err
		}
	}
}

// copyRound copies the groups that were not copied before. It ends early when the
// manifest should be read again.
func (t *taking) copyRound(ctx context.Context, all []group, copied map[string]File, began time.Time) (whole bool, err error) {
	for _, g := range all {
		h, err := t.tableHeader(ctx, g.table)
		if err != nil {
			return false, err
		}
		name := t.groupFileName(g, h)
		if _, done := copied[name]; done {
			continue
		}
		f, found, err := t.findStored(ctx, name, g.table)
		if err != nil {
			return false, err
		}
		if found {
			copied[name] = f
			t.progress.Rows(0, f.Rows)
			continue
		}
		if t.options.Now().Sub(began) > Patience/2 {
			return false, nil
		}
		f, kept, err := t.copyGroup(ctx, g, h, name, began)
		if err != nil || !kept {
			return false, err
		}
		copied[name] = f
	}
	return true, nil
}

// copyGroup writes a group into its file. It is not kept where some of its rows may
// have been deleted meanwhile.
func (t *taking) copyGroup(ctx context.Context, g group, h Header, name string, began time.Time) (f File, kept bool, err error) {
	d, err := newDraft(t.place, g.table, h)
	if err != nil {
		return f, false, err
	}
	defer func() { err = errors.Join(err, d.discardDraft()) }()
	d.Name = name
	err = t.Export(ctx, Extent{Table: g.table, Account: t.id, Generations: g.generationNumbers()}, h, d.writeRow)
	if err = errors.Join(err, d.finishFile()); err != nil {
		return f, false, err
	}
	expected := g.expectedRows()
	short := d.Rows != expected
	if short || t.options.Now().Sub(began) > Patience {
		live, err := t.isLive(ctx, g, h, name)
		if err != nil || !live {
			return f, false, err
		}
	}
	if short {
		return f, false, &adlens.Error{Kind: adlens.Damaged,
			Err: fmt.Errorf("%s%s has %d rows, %d were loaded: the data is damaged, and a backup of it would be too", g.table, g.month, d.Rows, expected)}
	}
	t.progress.Rows(d.Rows, 0)
	return d.File, true, t.place.Keep(ctx, name, d.on)
}

// isLive reports whether a group is still what the manifest names.
func (t *taking) isLive(ctx context.Context, g group, h Header, name string) (bool, error) {
	columns, err := t.tableHeader(ctx, UnitTable)
	if err != nil {
		return false, err
	}
	now, err := t.Live(ctx, t.id, columns)
	for _, other := range groupUnits(now) {
		if other.table == g.table && t.groupFileName(other, h) == name {
			return true, err
		}
	}
	return false, err
}

// writeManifest writes the manifest itself, and returns all files of it and of what it
// names.
func (t *taking) writeManifest(ctx context.Context, h Header, live []Live, all []group, copied map[string]File) ([]File, error) {
	m, err := t.writeFile(ctx, UnitTable, h, func(visit func([]byte) error) error {
		for _, l := range live {
			if err := visit(l.Row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || m.Rows == 0 {
		return nil, err
	}
	files := []File{m}
	for _, g := range all {
		if f := copied[t.groupFileName(g, t.headers[g.table])]; f.Rows > 0 {
			files = append(files, f)
		}
	}
	return files, nil
}
