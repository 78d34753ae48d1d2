package backup

import (
	"context"
	"fmt"
)

// pruneBackups removes all but the newest backups of a place, and then the files that
// no backup names any more. Where an index cannot be read, it is not known what it
// names, and no file is removed.
func pruneBackups(ctx context.Context, p Place, keep int) error {
	all, err := List(ctx, p)
	if err != nil || keep == 0 {
		return err
	}
	old := all[:max(0, len(all)-keep)]
	for _, name := range old {
		if err := p.Remove(ctx, name); err != nil {
			return err
		}
	}
	needed := map[string]bool{}
	for _, name := range all[len(old):] {
		if err := markNeeded(ctx, p, name, needed); err != nil {
			return fmt.Errorf("files that no backup needs were left: %w", err)
		}
	}
	return p.Sweep(ctx, needed)
}

// markNeeded notes the files that a backup names.
func markNeeded(ctx context.Context, p Place, name string, needed map[string]bool) error {
	t, err := ReadIndex(ctx, p, name)
	if err != nil {
		return err
	}
	for _, e := range t.Accounts {
		if needed[e.Catalogue] {
			continue
		}
		c, err := ReadCatalogue(ctx, p, e)
		if err != nil {
			return err
		}
		needed[e.Catalogue] = true
		for _, f := range c.Files {
			needed[f.Name] = true
		}
	}
	return nil
}
