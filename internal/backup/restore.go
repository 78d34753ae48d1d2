package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/tables"
)

// Restoring says what is restored.
type Restoring struct {
	Account string               // one account only; "" for everything
	Schema  uint32               // the newest step of the database's schema
	Earlier map[string]time.Time // of which time the backup has accounts, where that is not its own (EarlierAccounts)
	// Lock lets one process at a time do a thing that has a name.
	Lock func(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error)
}

// LockName is the name of the lock under which anything is restored, and accounts are
// added. No account has it.
const LockName = "restore/"

// Restore copies a backup, or one account of it, into a database that has
// nothing of the kind, or has that account damaged. Accounts and their keys appear together, as the last
// act, after everything was compared with the backup and with itself. What
// a restore that was killed has left is not visible, and is taken away by the
// next.
func Restore(ctx context.Context, p Place, t Taken, into Sink, o Restoring, progress Progress) ([]Entry, error) {
	if t.Schema > o.Schema {
		return nil, fmt.Errorf("%s was written by adlens %s with schema %d, this adlens knows %d: use that version or a later one", t.Name, t.Version, t.Schema, o.Schema)
	}
	chosen := t.Accounts
	if o.Account != "" {
		i := slices.IndexFunc(t.Accounts, func(e Entry) bool { return e.Account == o.Account })
		if i < 0 {
			return nil, fmt.Errorf("backup %s has no account %q", t.ID(), o.Account)
		}
		chosen = t.Accounts[i : i+1]
	}
	release, err := o.Lock(ctx, LockName, func(holder string) { progress.Notice("waiting for another restore: " + holder) })
	if err != nil {
		return nil, err
	}
	r := &restoring{Sink: into, place: p, taken: t, Restoring: o, progress: progress, shown: map[string][]*Block{}}
	r.tellEarlier(chosen)
	err = r.restoreAll(ctx, chosen)
	if err == nil && !r.inPlace {
		r.tellAsOf()
	}
	return chosen, errors.Join(err, release())
}

// tellAsOf says of when what is not loaded is: what was changed since is not known.
func (r *restoring) tellAsOf() {
	as := adlens.FormatTime(r.takenAt())
	if r.Account == "" && len(r.Earlier) > 0 {
		as += ", or of the earlier time of their account"
	}
	r.progress.Notice("subscriptions, keys, links and connections, of assistants and to the platform, are as of " + as +
		": cancel, revoke and remove again what was canceled, revoked or removed since, and connect again assistants that connected or refreshed since")
}

// takenAt is of when the backup has the chosen account, or all that it names no other time of.
func (r *restoring) takenAt() time.Time {
	if at, found := r.Earlier[r.Account]; found {
		return at
	}
	return r.taken.TakenAt
}

type restoring struct {
	Sink
	Restoring
	place    Place
	taken    Taken
	progress Progress
	shown    map[string][]*Block // rows of all accounts, which are inserted after all others: a block for those of the same columns
	inPlace  bool                // the account is there
	unknown  bool                // its loads are, and the directory does not know it
	room     Room                // then, once it was made

	number      uint32            // under which the account is published; of a former backup 0
	generations map[uint32]uint32 // that rows get instead of those of the backup; nil then
}

func (r *restoring) restoreAll(ctx context.Context, chosen []Entry) error {
	finished, err := r.prepareTarget(ctx, chosen)
	if err != nil || finished {
		return err
	}
	for i, e := range chosen {
		r.progress.Account(e.Account, i, len(chosen))
		if err := r.restoreAccount(ctx, e); err != nil {
			return fmt.Errorf("account %s: %w", e.Account, err)
		}
	}
	if r.inPlace {
		return nil
	}
	return r.showAccounts(ctx)
}

// prepareTarget makes sure that nothing is there but what an earlier attempt has
// left, and takes that away. finished is true where the earlier one lacked
// nothing but to say so.
func (r *restoring) prepareTarget(ctx context.Context, chosen []Entry) (finished bool, err error) {
	began, err := r.Began(ctx, r.Account)
	if err != nil {
		return false, err
	}
	there, err := r.Shown(ctx, r.Account)
	if err != nil {
		return false, err
	}
	if began == r.taken.ID() && len(chosen) > 0 && slices.Equal(there, idsOf(chosen)) {
		damaged, err := r.damagedOf(ctx, chosen)
		if err != nil {
			return false, err
		}
		if len(damaged) == 0 {
			if err := r.requireRestored(ctx, chosen); err != nil {
				return false, err
			}
			return true, r.Done(ctx, r.Account)
		}
		if r.Account == "" {
			return false, fmt.Errorf("all accounts of the backup are there, but damaged since: %s; restore each of them with --account", strings.Join(damaged, ", "))
		}
	}
	if r.inPlace = len(there) > 0 && r.Account != ""; r.inPlace {
		return false, nil
	}
	if len(there) > 0 {
		return false, r.refuseExisting(there)
	}
	left, err := r.Left(ctx, r.Account)
	if err != nil {
		return false, err
	}
	switch {
	case len(left) == 0 || began != "":
	case r.Account == "":
		return false, fmt.Errorf("there is no account, but there are rows in the tables %s: that is no empty database, and nothing was changed", strings.Join(left, ", "))
	default: // what else is left than loads, as requests that a server counted since, goes
		if r.unknown, err = r.HasLoads(ctx, r.Account); err != nil || r.unknown {
			r.inPlace = r.unknown
			return false, err
		}
	}
	if began != "" {
		r.progress.Notice("the restore of " + began + " did not come to its end; beginning again")
	}
	if len(left) > 0 {
		if err := r.Clear(ctx, r.Account, LockName); err != nil {
			return false, err
		}
	}
	return false, r.Begin(ctx, r.Account, r.taken.ID())
}

// damagedOf returns those of some accounts of which something was lost since they were
// restored.
func (r *restoring) damagedOf(ctx context.Context, chosen []Entry) (damaged []string, err error) {
	for _, e := range chosen {
		faults, err := r.Faults(ctx, e.Account)
		if err != nil {
			return nil, err
		}
		if len(faults) > 0 {
			damaged = append(damaged, e.Account)
		}
	}
	return damaged, nil
}

func idsOf(entries []Entry) []string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.Account
	}
	return ids
}

// named is how many accounts a refusal names, and how many faults a notice.
const named = 5

func (r *restoring) refuseExisting(there []string) error {
	names := adlens.JoinFew(there, named, ", ")
	if r.Account != "" {
		return fmt.Errorf("account %s is there already, and whole: only one that is missing or damaged is restored; restore it into another data directory or database", names)
	}
	return fmt.Errorf("the database is not empty, it has the accounts %s: restore into an empty data directory or database, or one account that is missing with --account", names)
}

// restoreAccount restores an account up to its manifest. It cannot be seen yet: the
// account itself and its keys are still missing, or nothing of it is answered.
func (r *restoring) restoreAccount(ctx context.Context, e Entry) (err error) {
	release, err := r.Lock(ctx, e.Account, func(holder string) { r.progress.Notice("waiting for the account's writer: " + holder) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	c, err := readWhole(ctx, r.place, e)
	if err != nil {
		return err
	}
	if r.inPlace {
		whole, err := r.makeRoom(ctx, e, c)
		if err != nil || whole {
			return err
		}
		c.Files = slices.DeleteFunc(c.Files, func(f File) bool { return isKept(f.Table) })
	} else if err := r.Place(ctx, e.Account); err != nil {
		return err
	}
	slices.SortStableFunc(c.Files, func(a, b File) int { return cmp.Compare(a.restoreRank(), b.restoreRank()) })
	var live *Block
	r.number, r.generations = 0, nil
	for _, f := range c.Files {
		keep := func(b *Block) error { return r.insertRenumbered(ctx, e.Account, f, b) }
		switch {
		case isUnits(f.Table):
			keep = func(b *Block) error { live = b; return r.renumberUnits(ctx, e.Account, b) }
		case isShown(f.Table):
			keep = func(b *Block) error { r.keepShown(f.Table, b); return nil }
		}
		if err := r.readBlocks(ctx, e.Account, f, keep); err != nil {
			return err
		}
	}
	if live != nil { // something was loaded
		if err := r.publishAccount(ctx, e.Account, live); err != nil {
			return err
		}
	}
	if r.inPlace {
		return r.room.Reopen(ctx)
	}
	return nil
}

// publishAccount completes an account, and makes its manifest live when all of it is
// as it was.
func (r *restoring) publishAccount(ctx context.Context, account string, live *Block) error {
	faults, err := r.Complete(ctx, account, live.readManifest(), r.requireOurs)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("what was restored is not what was backed up, and was not made visible: %s", strings.Join(faults, "; "))
	}
	if err := r.requireOurs(ctx); err != nil {
		return err
	}
	return r.Publish(ctx, account, live, r.number)
}

// renumberUnits gives the live units a commit and generations that nothing had. What a writer,
// a deletion or another restore still has under way is about other rows then.
func (r *restoring) renumberUnits(ctx context.Context, account string, live *Block) (err error) {
	if live.Former() {
		return nil
	}
	if err := r.requireOurs(ctx); err != nil {
		return err
	}
	if r.number, err = r.Reserve(ctx, account, live.Rows); err == nil {
		r.generations = live.renumber(r.number)
	}
	return err
}

// insertRenumbered inserts a block, under the new generations where its rows have any.
func (r *restoring) insertRenumbered(ctx context.Context, account string, f File, b *Block) error {
	if d, _ := tables.Find(f.Table); d.Kind != 0 && r.generations != nil {
		if err := b.setGenerations(r.generations); err != nil {
			return &Damage{f.Name, err}
		}
	}
	return r.insertOurs(ctx, account, f.Table, b)
}

// requireOurs fails where another restore has taken over, or may have.
func (r *restoring) requireOurs(ctx context.Context) error {
	if err := r.RequireHeld(LockName); err != nil || !r.inPlace {
		return err
	}
	return r.room.RequireOurs(ctx)
}

// insertOurs inserts a block unless another restore has taken over.
func (r *restoring) insertOurs(ctx context.Context, account, table string, b *Block) error {
	if err := r.requireOurs(ctx); err != nil {
		return err
	}
	return r.Insert(ctx, account, table, b)
}

// showAccounts makes what was restored visible: keys first, and the accounts, without
// which nothing is visible, in one insert.
func (r *restoring) showAccounts(ctx context.Context) error {
	there, err := r.Shown(ctx, r.Account)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("an account was added meanwhile, nothing was made visible: %w", r.refuseExisting(there))
	}
	for _, table := range shownTables() {
		for _, block := range r.shown[table] {
			if err := r.insertOurs(ctx, block.account, table, block); err != nil {
				return err
			}
		}
	}
	if err := r.requireOurs(ctx); err != nil {
		return err
	}
	return r.Done(ctx, r.Account)
}

// Bounds of a block: rows, and about how many bytes.
const (
	blockRows  = 100_000
	blockBytes = 64 << 20
)

// restoreRank orders the files of an account as they are restored: the numbers that were given
// out, then the live units, which get others, and then the rows of these.
func (f File) restoreRank() int {
	switch d, _ := tables.Find(f.Table); {
	case d.InPlace == tables.Merged:
		return 0
	case isUnits(f.Table):
		return 1
	default:
		return 2
	}
}

// isOneBlock tells the tables of which an account's rows are one block.
func (f File) isOneBlock() bool { return isUnits(f.Table) || isShown(f.Table) }

// readBlocks reads a file and hands its rows on in blocks.
func (r *restoring) readBlocks(ctx context.Context, account string, f File, keep func(*Block) error) error {
	in, err := openFile(ctx, r.place, f)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := r.checkColumns(ctx, f, in.header); err != nil {
		return err
	}
	b := r.blockFor(f, in.header, account)
	var refused error // by keep, for which the file cannot be blamed
	var rows uint64
	err = in.eachRow(func(from []byte) (int, error) {
		if !f.isOneBlock() && (b.Rows == blockRows || b.bytes > blockBytes) {
			if refused = keep(b); refused != nil {
				return 0, refused
			}
			r.progress.Rows(rows, 0)
			b, rows = newBlock(in.header, account), 0
		}
		size, err := b.addRow(from)
		if err == nil {
			rows++
		}
		return size, err
	})
	r.progress.Rows(rows, 0)
	if refused != nil || err != nil || b.Rows == 0 {
		return cmp.Or(refused, err)
	}
	return keep(b)
}

// blockFor returns where a file's rows go: behind those of other accounts, where they are
// shown together. What a backup kept of one that was damaged may have the columns of an
// earlier version.
func (r *restoring) blockFor(f File, h Header, account string) *Block {
	for _, b := range r.shown[f.Table] {
		if slices.Equal(b.Header, h) {
			b.account = account
			return b
		}
	}
	return newBlock(h, account)
}

func (r *restoring) keepShown(table string, b *Block) {
	if !slices.Contains(r.shown[table], b) {
		r.shown[table] = append(r.shown[table], b)
	}
}

// checkColumns makes sure that a file's rows go into a table as they are. A column
// that is newer than the backup gets its default.
func (r *restoring) checkColumns(ctx context.Context, f File, h Header) error {
	if !Holds(f.Table) {
		return &Damage{f.Name, fmt.Errorf("%q is no table of a backup", f.Table)}
	}
	columns, err := r.Columns(ctx, f.Table)
	if err != nil {
		return err
	}
	for _, c := range h {
		i := columns.Index(c.Name)
		if i < 0 || columns[i].Type != c.Type {
			return &Damage{f.Name, fmt.Errorf("its column %s of type %s is not in the table %s", c.Name, c.Type.Name, f.Table)}
		}
	}
	if d, _ := tables.Find(f.Table); d.Kind != 0 && h.Index("generation") < 0 {
		return &Damage{f.Name, errors.New("it does not say which generations its rows have")}
	}
	if !isUnits(f.Table) {
		return nil
	}
	for _, name := range unitColumns(f.Table) {
		if h.Index(name) < 0 {
			return &Damage{f.Name, fmt.Errorf("it lacks the column %s of the live units", name)}
		}
	}
	return nil
}
