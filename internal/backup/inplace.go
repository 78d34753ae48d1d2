package backup

import (
	"context"
	"fmt"
	"time"

	"adlens"
)

// makeRoom makes sure that an account which is there is damaged, that the backup
// is whole and of this account, and not of another one that had its name, and
// only then clears what is there. Where the directory alone is damaged, it is
// mended, the account is whole, and nothing is cleared.
func (r *restoring) makeRoom(ctx context.Context, e Entry, c catalogue) (whole bool, err error) {
	faults, err := r.Faults(ctx, e.Account)
	if err != nil {
		return false, err
	}
	switch {
	case r.unknown:
		r.progress.Notice("the database has its loads, and does not know it, as after an older copy of its disk was put back; the backup is looked through")
	case len(faults) == 0:
		return false, r.refuseExisting([]string{e.Account})
	default:
		r.progress.Notice("it is damaged (" + adlens.JoinFew(faults, named, "; ") + "); the backup is looked through, and takes its place")
	}
	for _, f := range c.Files {
		if _, err := verifyFile(ctx, r.place, f); err != nil {
			return false, err
		}
	}
	if err := r.requireSameAccount(ctx, e.Account, c); err != nil {
		return false, err
	}
	older := false
	if r.unknown {
		if older, err = r.recallAccount(ctx, e); err != nil {
			return false, err
		}
	}
	if !older {
		if whole, err := r.mendDirectory(ctx, e, c); err != nil || whole {
			return whole, err
		}
	}
	r.tellLoaded(ctx, e.Account)
	r.room, err = r.MakeRoom(ctx, e.Account, func(wait time.Duration) {
		r.progress.Notice(fmt.Sprintf("nothing of it is answered from now on; waiting %s for those who may still be reading", wait.Round(time.Second)))
	})
	if err == nil && older { // shown once it is closed, or a restore that is interrupted leaves it open
		_, err = r.mendDirectory(ctx, e, c)
	}
	return false, err
}

// tellLoaded says as of when the figures are going to be, and which reports were loaded since:
// the notes of these go with the figures, so a repetition cannot say it. Notes that cannot be
// read are part of the damage.
func (r *restoring) tellLoaded(ctx context.Context, account string) {
	at := r.takenAt()
	r.progress.Notice("its figures, lists and records are as of " + adlens.FormatTime(at) + " once it is restored: load again what came since")
	loads, err := r.LoadedSince(ctx, account, at)
	if err != nil {
		r.progress.Notice("which reports were loaded since cannot be read")
	}
	if err != nil || len(loads.Files) == 0 {
		return
	}
	of := ""
	if loads.Days != "" {
		of = " of " + loads.Days
	}
	was := "were"
	if len(loads.Files) == 1 {
		was = "was"
	}
	r.progress.Notice(fmt.Sprintf("%s%s %s loaded since: load them again: %s",
		adlens.FormatCount(len(loads.Files), "report"), of, was, adlens.JoinFew(loads.Files, named, ", ")))
}

// mendDirectory brings back what the account lost of the directory, and reports
// whether it is whole then. Of a row of the directory the newest counts, so what
// was made since the backup, and is there, stays.
func (r *restoring) mendDirectory(ctx context.Context, e Entry, c catalogue) (whole bool, err error) {
	if !r.unknown {
		if err := r.RequireDirectory(ctx, e.Account); adlens.KindOf(err) != adlens.Damaged {
			return false, err
		}
	}
	// The account comes last: one that was unknown is so until all else is there.
	for _, table := range shownTables() {
		for _, f := range c.Files {
			if f.Table != table {
				continue
			}
			err := r.readBlocks(ctx, e.Account, f, func(b *Block) error { return r.Insert(ctx, e.Account, table, b) })
			if err != nil {
				return false, err
			}
		}
	}
	if err := r.MendDirectory(ctx, e.Account, r.progress.Notice); err != nil {
		return false, err
	}
	faults, err := r.Faults(ctx, e.Account)
	if err == nil && len(faults) == 0 {
		r.progress.Notice("its name, keys, feed links and connection are those of the backup and those that were left; its figures are whole and stay as they are")
	}
	return len(faults) == 0, err
}

// recallAccount places an account that the directory forgot, and reports whether its loads are
// older than the backup's, as where the copies of several disks were taken at different times.
func (r *restoring) recallAccount(ctx context.Context, e Entry) (older bool, err error) {
	if err := r.Recall(ctx, e.Account); err != nil {
		return false, err
	}
	r.tellAsOf() // before the first key works: a repetition may not say it
	header, err := r.Columns(ctx, UnitTable)
	if err != nil {
		return false, err
	}
	live, err := r.Live(ctx, e.Account, header)
	if err != nil && adlens.KindOf(err) != adlens.Damaged {
		return false, err
	}
	newest := uint32(0)
	for _, l := range live {
		newest = max(newest, l.Version)
	}
	if older = newest < e.Version; older {
		r.progress.Notice("its loads are older than those of the backup, which take their place")
	}
	return older, nil
}
