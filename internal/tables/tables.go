// Package tables is the port through which writers and readers of an account
// reach its small tables: append a block of rows, read rows, delete what is
// dead. It decides nothing. Which row wins, which commit is live, which number
// is free and what is lost is decided above it (internal/commits), so that the
// same rules run on the engine's tables and on a model of them.
package tables

import (
	"context"
	"time"

	"adlens/internal/manifest"
)

// Table is a small table of which every row belongs to an account. Rows are
// added and, when they are dead, deleted; none is ever changed.
type Table[R any] interface {
	// Append adds rows as one block: a reader sees all of them or none. After an
	// error the block may be there, or appear later: a request may still be on
	// its way.
	Append(ctx context.Context, account string, rows ...R) error
	// Read returns the account's rows in no particular order. A row may occur
	// more than once.
	Read(ctx context.Context, account string) ([]R, error)
	// ReadAll returns the rows of all accounts.
	ReadAll(ctx context.Context) (map[string][]R, error)
	// DeleteBelow deletes the account's rows whose number is smaller. It returns
	// when the deletion is certain; the rows go in the store's own time.
	DeleteBelow(ctx context.Context, account string, number uint32) error
}

// Port is the small tables of one database.
type Port interface {
	// Reservations are the numbers that writers have taken for themselves.
	Reservations() Table[Reservation]
	// Commits is the record of commits: one row makes a whole load visible.
	Commits() Table[manifest.Commit]
	// Units are the units that each commit replaced.
	Units() Table[Unit]
	// Seals say which commits were acknowledged: a second witness, from which a
	// loss of the newest commits is noticed.
	Seals() Table[Seal]
	// Settled says below which number it is known what became of every number.
	Settled() Table[Settled]
	// Dead are generations that no reader begins to read any more.
	Dead() Table[Dead]

	// CountRows counts the rows of generations in some tables of generations, of
	// one account or, for "", of all.
	CountRows(ctx context.Context, account string, tables ...string) ([]Count, error)
	// ReadRows counts like CountRows, and reads every value on the way: bytes
	// that changed on the disk are an error of kind adlens.Damaged.
	ReadRows(ctx context.Context, account string, tables ...string) ([]Count, error)
	// Clear deletes all rows of an account from some tables, but for the commits
	// manifest.Closed. It returns when they are gone.
	Clear(ctx context.Context, account string, tables ...string) error
	// Reopen deletes the commits manifest.Closed of an account that have these digests.
	// It returns when no reader finds them any more.
	Reopen(ctx context.Context, account string, digests []uint64) error
	// DeleteRows deletes rows of generations together with their notes in Dead,
	// in the store's own time. Tables that are still deleting are left out, and
	// so stay noted.
	DeleteRows(ctx context.Context, deletions []Deletion) error
	// Now is the time by the clock that dates the rows of an account.
	Now(ctx context.Context, account string) (time.Time, error)
}

// Reservation is a block of numbers that one writer took: from First to below
// Next. The token is random, and tells two writers apart that took a block at
// the same moment.
type Reservation struct {
	First, Next uint32
	Token       string
}

// Unit is what a commit made of one unit.
type Unit struct {
	Number uint32 // of the commit
	manifest.Entry
}

// Seal says that a commit was acknowledged.
type Seal struct{ Number uint32 }

// Settled says that it is known what became of all numbers below Next.
type Settled struct{ Next uint32 }

// Dead is a generation whose rows in a table may be deleted some time after it
// was noted.
type Dead struct {
	Table      string
	Generation uint32
	NotedAt    time.Time // by the store's clock, which sets it
}

// Count is how many rows a table has of a generation.
type Count struct {
	Account, Table string
	Generation     uint32
	Rows           uint64
}

// Deletion is generations of an account that go from one table.
type Deletion struct {
	Table, Account string
	Generations    []uint32
}
