package backup

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Source is a database that is backed up. It is only read.
type Source interface {
	// Shown returns the ids of the accounts that are there, or were and are lost,
	// sorted; "" means all.
	Shown(ctx context.Context, account string) ([]string, error)
	// RequireDirectory returns an error of kind adlens.Damaged where rows of an
	// account that have no generations were lost.
	RequireDirectory(ctx context.Context, account string) error
	// Columns are the stored columns of a table.
	Columns(ctx context.Context, table string) (Header, error)
	// Live reads which generations of an account are live, at one moment.
	// The rows have the columns of h, those of the table UnitTable.
	Live(ctx context.Context, account string, h Header) ([]Live, error)
	// Units returns what each live commit of an account made live, also what later ones
	// replaced, as far back as the record of commits goes.
	Units(ctx context.Context, account string) ([]tables.Unit, error)
	// Export visits rows as RowBinary has them, with the columns of h.
	Export(ctx context.Context, e Extent, h Header, visit func(row []byte) error) error
}

// Live is a live unit of an account.
type Live struct {
	manifest.Entry
	Version uint32 // of the commit that made it live
	Row     []byte // of UnitTable
}

// Extent is what of a table is meant: the rows of an account, of some
// generations only where the table has any.
type Extent struct {
	Table, Account string
	Generations    []uint32
}

// Sink is a database into which a backup is restored. An account "" means all
// accounts.
type Sink interface {
	Columns(ctx context.Context, table string) (Header, error)
	Accounts(ctx context.Context) ([]adlens.Account, error)
	// Shown returns the ids of the accounts that are there, or were and are lost,
	// sorted.
	Shown(ctx context.Context, account string) ([]string, error)
	// Live is that of Source.
	Live(ctx context.Context, account string, h Header) ([]Live, error)
	// Left returns the tables that hold rows, visible or not.
	Left(ctx context.Context, account string) ([]string, error)
	// Began says which backup was begun to be restored there and did not come
	// to its end; "" for none.
	Began(ctx context.Context, account string) (backup string, err error)
	// Begin notes, before the first row, that a backup is being restored.
	Begin(ctx context.Context, account, backup string) error
	// Clear takes away what an earlier attempt has left, as long as a lock is held.
	Clear(ctx context.Context, account, lock string) error
	// Done takes the note of Begin away.
	Done(ctx context.Context, account string) error

	// Place chooses where the rows of an account will be, before the first.
	Place(ctx context.Context, account string) error
	// Reserve returns a number for the commit of a restored account, which no commit has
	// had. No row has one of so many before it. The blocks of the backup, where it is from,
	// are there already.
	Reserve(ctx context.Context, account string, generations int) (number uint32, err error)
	// Insert writes the rows of a block in one insert.
	Insert(ctx context.Context, account, table string, block *Block) error
	// Complete derives what is not in a backup, and holds all of an account
	// against the manifest that is going to be its own, and against itself. before is
	// called before each statement that derives, and ends it with its error.
	Complete(ctx context.Context, account string, m manifest.Manifest, before func(context.Context) error) (faults []string, err error)
	// RequireHeld fails where a lock that was taken under a name may have been lost.
	RequireHeld(name string) error
	// Faults are what is wrong with the stored data of an account that is there,
	// none where it is whole.
	Faults(ctx context.Context, account string) (faults []string, err error)
	// RequireDirectory is that of Source.
	RequireDirectory(ctx context.Context, account string) error
	// HasLoads reports whether loads of an account are there, whether the directory knows it
	// or not.
	HasLoads(ctx context.Context, account string) (bool, error)
	// LoadedSince returns the reports that were loaded into an account after a time, as far as
	// what is left of it says.
	LoadedSince(ctx context.Context, account string, at time.Time) (Loads, error)
	// Recall places an account that the directory does not know any more where its loads
	// are.
	Recall(ctx context.Context, account string) error
	// MendDirectory ends the repair of an account's rows without generations,
	// after those of the backup were inserted: what cannot be had back is not
	// missed any more, and what was revoked stays revoked. tell hears what the
	// person has to do again.
	MendDirectory(ctx context.Context, account string, tell func(text string)) error
	// MakeRoom has nothing of an account that is there answered or loaded until the
	// room is reopened, whatever becomes of the caller, and clears what a backup brings
	// back. wait hears how long it waits for those who may still be reading.
	MakeRoom(ctx context.Context, account string, wait func(time.Duration)) (Room, error)
	// Publish makes an account's manifest live, under the number of Reserve.
	Publish(ctx context.Context, account string, live *Block, number uint32) error
}

// Room is an account that is closed for a restore in its place.
type Room interface {
	// RequireOurs fails where another restore has taken over.
	RequireOurs(ctx context.Context) error
	// Reopen has the account answered again.
	Reopen(ctx context.Context) error
}

// Loads are reports that were loaded.
type Loads struct {
	Files []string // one of each report, the first that was loaded first
	Days  string   // that they speak for, "" where that is lost
}
