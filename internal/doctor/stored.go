package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/clickhouse"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
	"adlens/loader"
)

const restore = "restore a backup in its place: adlens restore --from PLACE --account ID; or load the extracts into a new data directory"

// checkDirectory finds what was lost of accounts, keys, feed links, connections and
// placements.
func (e *examination) checkDirectory(c *checkup) (string, error) {
	var err error
	e.lost, err = e.db.Inspector.DirectoryFaults(e.ctx)
	for _, id := range slices.Sorted(maps.Keys(e.lost)) {
		if e.Account != "" && e.Account != id {
			continue
		}
		// It may be in no list of accounts any more.
		if err := c.forAccount(id, func(c *checkup) error {
			c.addFailure(restore, "%s", joinFew(e.lost[id]))
			return nil
		}); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", err
	}
	newer, err := e.db.Inspector.NewerElsewhere(e.ctx)
	for _, id := range slices.Sorted(maps.Keys(newer)) {
		if e.Account != "" && e.Account != id {
			continue
		}
		if err := c.forAccount(id, func(c *checkup) error {
			c.addWarning("an older copy of a disk was put back, or a load came late: load the newest files of the account again before it is moved", "%s", newer[id])
			return nil
		}); err != nil {
			return "", err
		}
	}
	return "all accounts, keys, feed links and connections that were stored", err
}

// checkBookkeeping reads the tables of which nothing else compares the rows. Their rows are of
// all accounts.
func (e *examination) checkBookkeeping(c *checkup) (string, error) {
	all := tables.Unsealed()
	for _, d := range all {
		err := e.db.Audit.ReadTable(e.ctx, d.Name)
		switch {
		case err == nil:
		case adlens.KindOf(err) != adlens.Damaged:
			return "", err
		case d.Expendable:
			c.addWarning("look after the disk; backups leave it out; without api_key_uses no last use is known, nor whether a rotated key is still used; without day_uses the limits of the day begin at 0 after a restart, and servers share them through Redis alone; a restore of a whole backup into a new data directory ends it", "%s cannot be read: %v", d.Name, err)
		case slices.Contains(commits.ClearedTables(), d.Name):
			c.addFailure(restore+"; where that is refused: "+loader.RestoreElsewhere, "%s cannot be read: %v", d.Name, err)
		default:
			c.addFailure(loader.RestoreElsewhere, "%s cannot be read: %v", d.Name, err)
		}
	}
	return fmt.Sprintf("%s can be read", adlens.FormatCount(len(all), "table")), nil
}

// checkManifests compares the rows that are there with those that were loaded.
func (e *examination) checkManifests(c *checkup) (string, error) {
	units := 0
	for _, id := range slices.Sorted(maps.Keys(e.unreadable)) {
		err := c.forAccount(id, func(c *checkup) error {
			c.addFailure(restore, "nothing of it can be examined: %v", e.unreadable[id])
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	e.forEach(c, func(c *checkup, a account) error {
		units += a.manifest.Len()
		for _, kind := range manifest.Kinds {
			for place, table := range tables.OfKind(kind) {
				if err := e.checkRows(c, a, kind, place, table); err != nil {
					return err
				}
			}
		}
		return e.checkLosses(c, a)
	})
	return fmt.Sprintf("%s with the rows that were loaded", adlens.FormatCount(units, "live unit")), nil
}

// checkLosses finds losses that no live unit shows, such as all commits of an
// account, by comparing with its seals.
func (e *examination) checkLosses(c *checkup, a account) error {
	if len(c.findings) > 0 {
		return nil
	}
	losses, err := e.db.Inspector.Losses(e.ctx, a.ID)
	for _, l := range losses {
		c.addFailure(restore, "%s", l.What)
	}
	if err != nil || len(losses) > 0 {
		return err
	}
	left, err := findLeftLedger(e.ctx, e.db, a.ID)
	if left > 0 {
		c.addFailure(loader.RestoreElsewhere, "%s noted as loaded, and nothing of the account is live: a restore that was interrupted has left the notes, and the account was added afterwards", adlens.FormatCount(left, "report"))
	}
	return err
}

// findLeftLedger counts the notes of loaded reports of an account of which nothing is
// live. A load notes reports after they are live, so a manifest that is still empty
// once they were read has none of them.
func findLeftLedger(ctx context.Context, db *clickhouse.Database, account string) (reports int, err error) {
	live, err := db.Tables.Manifest(ctx, account)
	if err != nil || live.Len() > 0 {
		return 0, err
	}
	noted, err := db.Loads.Ledger(ctx, account)
	if err != nil || len(noted) == 0 {
		return 0, err
	}
	live, err = db.Tables.Manifest(ctx, account)
	if err != nil || live.Len() > 0 {
		return 0, err
	}
	return len(noted), nil
}

// checkRows compares the units of a kind with their rows in one of its tables. An
// account may have thousands; a few are named.
func (e *examination) checkRows(c *checkup, a account, kind manifest.Kind, place int, table string) error {
	live := a.manifest.Of(kind)
	if len(live) == 0 {
		return nil
	}
	stored, err := e.countRows(a, kind, place)
	for _, batch := range splitBatches(live) {
		if err == nil && !e.Quick && !e.isRead[[2]string{a.ID, table}] {
			err = e.db.Audit.ReadRows(e.ctx, []string{a.ID}, table, generationNumbers(batch))
		}
	}
	if adlens.KindOf(err) == adlens.Damaged {
		c.addFailure(restore, "%s: %v", table, err)
		return nil
	}
	if err != nil {
		return err
	}
	suspects := slices.DeleteFunc(slices.Clone(live), func(l manifest.Entry) bool { return !l.CountedAt(place) || l.RowsAt(place) == stored[l.Generation] })
	suspects, err = e.stillLive(a, suspects)
	if err != nil || len(suspects) == 0 {
		return err
	}
	wrong := make([]string, len(suspects))
	for i, l := range suspects {
		wrong[i] = fmt.Sprintf("%s has %d rows, %d were loaded", a.unitName(l.Unit), stored[l.Generation], l.RowsAt(place))
	}
	c.addFailure(restore, "%s: %s", table, joinFew(wrong))
	return nil
}

// countRows counts the rows of an account's generations in a table, once: with those of other
// accounts where that can be done.
func (e *examination) countRows(a account, kind manifest.Kind, place int) (map[uint32]uint64, error) {
	table := tables.OfKind(kind)[place]
	if !e.counted[table] {
		e.counted[table] = true
		e.countTogether(kind, place)
	}
	key := [2]string{a.ID, table}
	if known, ok := e.rowsOf[key]; ok {
		return known, nil
	}
	all, err := e.db.Audit.GenerationRows(e.ctx, []string{a.ID}, table)
	if err == nil {
		e.rowsOf[key] = all[a.ID]
	}
	return all[a.ID], err
}

// batchAccounts bounds the accounts of which one statement reads.
const batchAccounts = 200

// countTogether counts a table for many accounts in each statement, which takes little longer
// than for one, and reads all columns of their live rows. A batch that fails, as where rows of
// one of its accounts cannot be read, is left to a look at each account for itself.
func (e *examination) countTogether(kind manifest.Kind, place int) {
	table := tables.OfKind(kind)[place]
	var ids []string
	var live []manifest.Entry
	rows := uint64(0)
	lookAt := func() {
		if len(ids) > 1 { // one alone is looked at when its turn comes
			e.lookTogether(ids, table, live)
		}
		ids, live, rows = nil, nil, 0
	}
	for _, a := range e.accounts {
		own, more := a.manifest.Of(kind), uint64(0)
		for _, l := range own {
			more += l.RowsAt(place)
		}
		if rows+more > batchRows || len(ids) == batchAccounts {
			lookAt()
		}
		ids, live, rows = append(ids, a.ID), append(live, own...), rows+more
	}
	lookAt()
}

func (e *examination) lookTogether(ids []string, table string, live []manifest.Entry) {
	all, err := e.db.Audit.GenerationRows(e.ctx, ids, table)
	if err != nil {
		return
	}
	for id, rows := range all {
		e.rowsOf[[2]string{id, table}] = rows
	}
	generations := generationNumbers(live)
	slices.Sort(generations)
	if e.Quick || len(live) == 0 || e.db.Audit.ReadRows(e.ctx, ids, table, slices.Compact(generations)) != nil {
		return
	}
	for _, id := range ids {
		e.isRead[[2]string{id, table}] = true
	}
}

// stillLive leaves out what a load has replaced since the examination began:
// its rows may be gone rightly.
func (e *examination) stillLive(a account, all []manifest.Entry) ([]manifest.Entry, error) {
	if len(all) == 0 {
		return nil, nil
	}
	now, err := e.db.Tables.Manifest(e.ctx, a.ID)
	return slices.DeleteFunc(all, func(l manifest.Entry) bool { return now.Generation(l.Unit) != l.Generation }), err
}

// garbageNotice is from how many bytes on garbage is worth a thought, where it
// is also more than what lives.
const garbageNotice = 1 << 30

// checkGarbage adds up what is on the disk and in no answer.
func (e *examination) checkGarbage(c *checkup) (string, error) {
	sizes, err := e.db.Audit.TableSizes(e.ctx)
	if err != nil {
		return "", err
	}
	stuck, err := e.db.Audit.StuckDeletions(e.ctx)
	if err != nil {
		return "", err
	}
	for _, deletion := range stuck {
		c.addWarning("where a part cannot be read, adlens doctor without --quick says whose rows; adlens restore --from PLACE --account ID sets it aside where it is of one account; where the disk is full or away, it ends by itself", "rows of no answer are not deleted, and take more and more space: a deletion fails in %s", deletion)
	}
	dead, err := e.deadRows()
	if err != nil {
		return "", err
	}
	var rows, bytes, replaced, living uint64
	for name, table := range sizes {
		deadBytes := uint64(0)
		if table.Rows > 0 {
			deadBytes = uint64(float64(table.Bytes) * float64(min(dead[name], table.Rows)) / float64(table.Rows))
		}
		rows, bytes, replaced, living = rows+dead[name], bytes+deadBytes, replaced+table.Replaced, living+table.Bytes-deadBytes
	}
	if e.Account != "" { // what lives, and what merges left, is of all accounts
		c.account = e.Account
		if len(e.accounts) == 0 {
			return "not counted, as the account cannot be read", nil
		}
		return fmt.Sprintf("%s take %s", adlens.FormatCount(rows, "dead row"), formatBytes(bytes)), nil
	}
	if total := bytes + replaced; total > garbageNotice && total > living {
		c.addWarning("adlens serve deletes it within hours, and the next load begins with it", "%s are garbage, more than the %s that live", formatBytes(total), formatBytes(living))
	}
	return fmt.Sprintf("%s take %s, merged parts %s; what lives takes %s", adlens.FormatCount(rows, "dead row"), formatBytes(bytes), formatBytes(replaced), formatBytes(living)), nil
}

// deadRows counts rows of the examined accounts that no manifest names, by
// their table.
func (e *examination) deadRows() (map[string]uint64, error) {
	dead := map[string]uint64{}
	for _, a := range e.accounts {
		for _, kind := range manifest.Kinds {
			live := map[uint32]bool{}
			for _, l := range a.manifest.Of(kind) {
				live[l.Generation] = true
			}
			for place, table := range tables.OfKind(kind) {
				stored, err := e.countRows(a, kind, place)
				if err != nil {
					return nil, err
				}
				for generation, rows := range stored {
					if !live[generation] {
						dead[table] += rows
					}
				}
			}
		}
	}
	return dead, nil
}

// deadLoads finds accounts of which a load did not end well. One that is under
// way is none.
func (e *examination) deadLoads(c *checkup) (string, error) {
	unaccounted, err := commits.Unsettled(e.ctx, e.db.Tables)
	if err != nil {
		return "", err
	}
	left := map[string]bool{}
	for _, id := range unaccounted {
		left[id] = true
	}
	e.forEach(c, func(c *checkup, a account) error {
		if !left[a.ID] {
			return nil
		}
		busy, err := e.locks.Held(e.ctx, a.ID)
		if err == nil && !busy {
			c.addWarning(fmt.Sprintf("nothing is wrong with what is shown; load its files again where that was not done: adlens load --account %s PATH", a.ID),
				"a load was interrupted; what it left behind is deleted by the next one, or by adlens serve within hours")
		}
		return err
	})
	return "none", nil
}
