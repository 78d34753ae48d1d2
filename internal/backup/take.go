package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/tables"
)

// Progress is told how far the work has come. It may do nothing.
type Progress interface {
	// Account begins an account; so many are done.
	Account(id string, done, total int)
	// Rows counts rows that were copied, and those that need no copying.
	Rows(copied, kept uint64)
	Notice(text string)
}

// Options say what a backup is of.
type Options struct {
	Version string // of the program
	Schema  uint32 // the newest step of the database's schema
	Keep    int    // how many of the newest backups of this database stay; 0 for all
	Now     func() time.Time
	// Identity tells the database from others that are backed up to the same place.
	Identity string
}

// Patience is how long rows are certain to stay after the manifest named their
// generations as live: what a load supersedes is deleted at the earliest
// loader.CollectAfter after it was noted as dead.
const Patience = 10 * time.Minute

// Take writes a backup of everything to a place, while others read and load.
// Until it returns one the place has no new backup. A damaged account takes the
// backup from no other: what the last backup has of it stays, the error names
// it beside the backup that was taken, and no older backup is removed.
func Take(ctx context.Context, from Source, p Place, o Options, progress Progress) (Taken, error) {
	release, err := p.Lock(ctx)
	if err != nil {
		return Taken{}, err
	}
	taken, err := takeBackup(ctx, from, p, o, progress)
	if err == nil {
		err = pruneBackups(ctx, p, o, taken, progress)
	}
	return taken, errors.Join(err, release())
}

func takeBackup(ctx context.Context, from Source, p Place, o Options, progress Progress) (Taken, error) {
	accounts, err := from.Shown(ctx, "")
	if err != nil {
		return Taken{}, err
	}
	if len(accounts) == 0 {
		return Taken{}, errors.New("there is no account to back up; is it the right --data-dir or --clickhouse?")
	}
	t := &taking{Source: from, place: p, options: o, progress: progress, headers: map[string]Header{}, last: map[string]Entry{}}
	if err := t.readLastBackup(ctx); err != nil {
		return Taken{}, err
	}
	index := Index{Format: format, Program: "adlens", Version: o.Version, Schema: o.Schema, TakenAt: t.laterThanLast(o.Now()), Identity: o.Identity}
	var spoilt, older []error
	for i, id := range accounts {
		progress.Account(id, i, len(accounts))
		entry, err := t.copyAccount(ctx, id)
		lacks := false
		if err == nil {
			lacks, err = t.lacksLastCommit(ctx, entry)
		}
		if err != nil {
			err = fmt.Errorf("account %s: %w", id, err)
		}
		switch {
		case adlens.KindOf(err) == adlens.Damaged:
			spoilt = append(spoilt, err)
			if len(t.known) > 0 {
				index.Accounts = append(index.Accounts, t.last[id])
			}
		case err != nil:
			return Taken{}, err
		default:
			index.Accounts = append(index.Accounts, entry)
			if lacks {
				older = append(older, fmt.Errorf("account %s: %w", id, errOlder))
			}
		}
	}
	if len(spoilt) == len(accounts) {
		return Taken{}, errors.Join(spoilt...)
	}
	for _, id := range slices.Sorted(maps.Keys(t.last)) {
		if !t.own || slices.Contains(accounts, id) {
			continue
		}
		// No account is ever removed, so the database was put back as it was before this one.
		if err := t.beginAccount(ctx, id); err != nil {
			return Taken{}, err
		}
		if len(t.known) > 0 {
			index.Accounts = append(index.Accounts, t.last[id])
		}
		spoilt = append(spoilt, fmt.Errorf("account %s: %w", id, errForgotten))
	}
	slices.SortFunc(index.Accounts, func(a, b Entry) int { return strings.Compare(a.Account, b.Account) })
	// Whatever the index names is on the disk before it.
	if err := p.Settle(ctx); err != nil {
		return Taken{}, err
	}
	name, _, err := writeJSON(ctx, p, index, func(sum string) string {
		return backups + index.TakenAt.Format(indexTime) + "." + sum + ".json"
	})
	if err != nil {
		return Taken{}, err
	}
	if err := p.Settle(ctx); err != nil {
		return Taken{}, err
	}
	if len(spoilt) > 0 {
		err = fmt.Errorf("not all was backed up; of what is damaged, what the last backup has of it stays: %w", errors.Join(spoilt...))
	}
	return Taken{name, index}, errors.Join(append(older, err)...)
}

// errOlder is why no older backup is removed after one that was taken.
var errOlder = &adlens.Error{Kind: adlens.Damaged, Err: errors.New("the last backup has loads that the database lacks, as after an older copy of its disk was put back: load them again, and revoke, cancel and remove again what was since, or restore that backup into a new data directory or database; no older one was removed this time")}

// lacksLastCommit reports whether the account is not what that of the last backup became: the
// number of its newest commit is gone, or was given out again, as to a load after a copy of the
// disk was put back. Once the record of commits begins after that number, nothing tells.
func (t *taking) lacksLastCommit(ctx context.Context, now Entry) (bool, error) {
	last := t.last[now.Account]
	if !t.own || now.Catalogue == last.Catalogue {
		return false, nil
	}
	if now.Version < last.Version {
		return true, nil
	}
	live, err := t.Units(ctx, now.Account)
	if err != nil || !slices.ContainsFunc(live, func(u tables.Unit) bool { return u.Number <= last.Version }) {
		return false, err
	}
	units, err := t.readLastUnits(ctx)
	if err != nil || units == nil {
		return false, err
	}
	gone := map[originated]bool{}
	for row := range units.Rows {
		if uint32(units.numberAt("number", row)) == last.Version {
			gone[originated{uint32(units.numberAt("generation", row)), units.numberAt("origin", row)}] = true
		}
	}
	for _, u := range live {
		delete(gone, originated{u.Generation, u.Origin})
	}
	return len(gone) > 0, nil
}

// originated is a generation, and which of the loads that had its number wrote it.
type originated struct {
	generation uint32
	origin     uint64
}

// readLastUnits reads the live units that the last backup has of the account; nil where nothing
// tells their loads apart, as in a backup of an earlier version, or where the file is damaged.
func (t *taking) readLastUnits(ctx context.Context) (*Block, error) {
	for _, f := range t.known {
		if f.Table != UnitTable {
			continue
		}
		in, err := openFile(ctx, t.place, f)
		if err == nil {
			defer in.Close()
			if in.header.Index("origin") < 0 {
				return nil, nil
			}
			b := newBlock(in.header, t.id)
			if err = in.eachRow(b.addRow); err == nil {
				return b, nil
			}
		}
		if !isDamage(err) {
			return nil, err
		}
	}
	return nil, nil
}

// taking is a backup that is being written.
type taking struct {
	Source
	place    Place
	options  Options
	progress Progress
	headers  map[string]Header
	last     map[string]Entry // accounts of the backup before, whose files may serve again
	own      bool             // that is known to be of the same database
	lastAt   time.Time        // when the newest was taken; zero where there is none

	id     string           // the account
	stored map[string]int64 // files that the place has of it
	known  map[string]File  // files of it that the backup before names
}

// readLastBackup reads what the newest backup holds that is not damaged, and not of another
// database.
func (t *taking) readLastBackup(ctx context.Context) error {
	all, err := List(ctx, t.place)
	if err != nil || len(all) == 0 {
		return err
	}
	t.lastAt = timeOf(all[len(all)-1])
	for _, name := range slices.Backward(all) {
		before, err := ReadIndex(ctx, t.place, name)
		switch {
		case isDamage(err):
			t.progress.Notice(fmt.Sprintf("the backup before cannot be built on: %v", err))
			continue
		case err != nil:
			return err
		case before.Identity != "" && before.Identity != t.options.Identity:
			continue
		}
		for _, e := range before.Accounts {
			t.last[e.Account] = e
		}
		t.own = before.Identity == t.options.Identity
		return nil
	}
	return nil
}

// errForgotten is why an account of the last backup is not in the next one.
var errForgotten = &adlens.Error{Kind: adlens.Damaged, Err: errors.New("the last backup has it, and the database does not know it any more, as after an older copy of its disk was put back: adlens restore --from PLACE --account ID brings it back; if it is not to come back, begin with a new place")}

// laterThanLast returns the time of a new backup. Backups are in the order of their times,
// so it is later than the last one, whose clock may have been ahead.
func (t *taking) laterThanLast(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if !now.After(t.lastAt) {
		return t.lastAt.Add(time.Millisecond)
	}
	return now
}

// copyAccount copies an account and returns what the index says of it.
func (t *taking) copyAccount(ctx context.Context, id string) (Entry, error) {
	if err := t.beginAccount(ctx, id); err != nil {
		return Entry{}, err
	}
	c := catalogue{Account: id}
	early, err := t.copyTables(ctx, wholeTables(tables.BeforeManifest))
	if err != nil {
		return Entry{}, err
	}
	live, figures, err := t.copyGenerations(ctx)
	if err != nil {
		return Entry{}, err
	}
	late, err := t.copyTables(ctx, wholeTables(tables.AfterManifest))
	if err == nil {
		err = t.RequireDirectory(ctx, id)
	}
	if err != nil {
		return Entry{}, err
	}
	c.Files = slices.Concat(early, figures, late)
	entry := Entry{Account: id}
	for _, l := range live {
		entry.Version = max(entry.Version, l.Version)
	}
	entry.Files, entry.Rows, entry.Stored = c.totalSizes()
	entry.Catalogue, entry.SHA256, err = writeJSON(ctx, t.place, c, func(sum string) string {
		return fmt.Sprintf("accounts/%s/catalogue.%s.json", id, sum)
	})
	return entry, err
}

// beginAccount looks which files of an account the place has already.
func (t *taking) beginAccount(ctx context.Context, id string) (err error) {
	t.id, t.known = id, map[string]File{}
	if err := checkName(fileName(id, "facts", sumOf())); err != nil {
		return err
	}
	if t.stored, err = t.place.List(ctx, "accounts/"+id+"/"); err != nil {
		return err
	}
	e, found := t.last[id]
	if !found {
		return nil
	}
	c, err := readCatalogue(ctx, t.place, e)
	if err != nil && !isDamage(err) {
		return err
	}
	for _, f := range c.Files {
		t.known[f.Name] = f
	}
	return nil
}

// findStored returns a file that the place has already. One that no backup names was
// left behind by one that did not come to its end: it is read once, to be sure
// of it.
func (t *taking) findStored(ctx context.Context, name, table string) (f File, found bool, err error) {
	size, there := t.stored[name]
	if f, known := t.known[name]; known && there && f.Stored == size && f.Table == table {
		return f, true, nil
	}
	if !there {
		return File{}, false, nil
	}
	f, err = verifyFile(ctx, t.place, File{Name: name, Table: table})
	switch {
	case isUnread(err):
		return f, false, fmt.Errorf("%w; remove the file from the place where its disk never gives it", err)
	case isDamage(err):
		return f, false, nil
	}
	return f, err == nil, err // a file that was not given this time may be one of an earlier backup
}

// tableHeader returns the columns of a table, which stay while the program runs.
func (t *taking) tableHeader(ctx context.Context, table string) (Header, error) {
	if h, known := t.headers[table]; known {
		return h, nil
	}
	h, err := t.Columns(ctx, table)
	if err == nil && len(h) == 0 {
		err = fmt.Errorf("the database has no table %s", table)
	}
	t.headers[table] = h
	return h, err
}

// copyTables copy all rows of an account in some tables, where there are any.
func (t *taking) copyTables(ctx context.Context, tables []string) (files []File, err error) {
	for _, table := range tables {
		h, err := t.tableHeader(ctx, table)
		if err != nil {
			return nil, err
		}
		f, err := t.writeFile(ctx, table, h, func(visit func([]byte) error) error {
			return t.Export(ctx, Extent{Table: table, Account: t.id}, h, visit)
		})
		if isExpendable(table) && adlens.KindOf(err) == adlens.Damaged {
			t.progress.Notice(fmt.Sprintf("account %s is backed up without its rows in %s, which cannot be read; no figure and no key depends on them: %v", t.id, table, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", table, err)
		}
		if f.Rows > 0 {
			files = append(files, f)
		}
	}
	return files, nil
}

// writeFile writes rows into a file that is named after what is in it.
func (t *taking) writeFile(ctx context.Context, table string, h Header, export func(visit func([]byte) error) error) (f File, err error) {
	d, err := newDraft(t.place, table, h)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, d.discardDraft()) }()
	if err := errors.Join(export(d.writeRow), d.finishFile()); err != nil || d.Rows == 0 {
		return d.File, err
	}
	d.Name = fileName(t.id, table, d.SHA256)
	f, found, err := t.findStored(ctx, d.Name, table)
	if err != nil {
		return d.File, err
	}
	if found && f.SHA256 == d.SHA256 {
		t.progress.Rows(0, d.Rows)
		return d.File, nil
	}
	t.progress.Rows(d.Rows, 0)
	return d.File, t.place.Keep(ctx, d.Name, d.on)
}
