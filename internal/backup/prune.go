package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// pruneBackups removes all but the newest backups that a place has of one database, and
// then the files that no backup names any more. Backups of another database stay, and
// those that do not say of which they are: they may be all that there is of it. Where an
// index cannot be read, it is not known what it names, and no file is removed. The newest
// one was just taken, and counts where the place does not list it yet.
func pruneBackups(ctx context.Context, p Place, o Options, newest Taken, progress Progress) error {
	all, err := List(ctx, p)
	if err != nil || o.Keep == 0 {
		return err
	}
	var own, others []Taken
	var unread []error
	damaged := map[string]error{}
	for _, name := range all {
		t, err := ReadIndex(ctx, p, name)
		switch {
		case isDamage(err) && !isUnread(err):
			damaged[name] = err
		case err != nil:
			unread = append(unread, err)
		case t.Identity == o.Identity:
			own = append(own, t)
		default:
			others = append(others, t)
		}
	}
	if !slices.Contains(all, newest.Name) {
		own = append(own, newest)
	}
	old := own[:max(0, len(own)-o.Keep)]
	for _, t := range old {
		if err := p.Remove(ctx, t.Name); err != nil {
			return err
		}
	}
	// A damaged index goes once so many whole ones are newer: what it names, it cannot give.
	for name, err := range damaged {
		if len(own) < o.Keep || name > own[len(old)].Name {
			unread = append(unread, fmt.Errorf("%w; nothing can be restored from it: remove it from the place", err))
		} else if err := p.Remove(ctx, name); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		progress.Notice(fmt.Sprintf("the place has %d backups of another database, or of a version that did not note which: they stay, and --keep does not count them", len(others)))
	}
	err = errors.Join(unread...)
	needed := map[string]bool{}
	for _, t := range slices.Concat(own[len(old):], others) {
		if err == nil {
			err = markNeeded(ctx, p, t, needed)
		}
	}
	if err != nil {
		return fmt.Errorf("files that no backup needs were left: %w", err)
	}
	return p.Sweep(ctx, needed)
}

// isUnread reports whether it was the disk that did not give a file, this time or for ever:
// of which database its backup is, is not known.
func isUnread(err error) bool {
	var disk *fs.PathError
	return errors.As(err, &disk)
}

// markNeeded notes the files that a backup names.
func markNeeded(ctx context.Context, p Place, t Taken, needed map[string]bool) error {
	for _, e := range t.Accounts {
		if needed[e.Catalogue] {
			continue
		}
		c, err := readCatalogue(ctx, p, e)
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
