package commits

import (
	"context"
	"fmt"
	"math"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Names reports whether a row of a unit says what is live of it. Of several such
// rows, which a record that began once more has, all say the same.
func (s State) Names(u tables.Unit) bool {
	return s.Chain.Has(u.Number) && s.Manifest.Generation(u.Unit) == u.Generation
}

// leap is how many numbers a restored account does not give out. Since the
// backup, loads where it is from have used some, for versions that clients
// may remember answers of. It is enough for sixteen thousand loads.
const leap = 1 << 24

// Leap passes over the numbers that loads since a backup have used, and says that
// no number below is unsettled: dead rows are not restored. It returns the last of them,
// for the restored account's commit: a writer that has stood still since before the
// restore has only smaller ones, so what it still commits, trims or seals is below.
func Leap(ctx context.Context, port tables.Port, account string) (number uint32, err error) {
	all, err := port.Reservations().Read(ctx, account)
	if err != nil {
		return 0, err
	}
	next := uint32(1)
	for _, r := range all {
		next = max(next, r.Next)
	}
	if next == math.MaxUint32 {
		return 0, errNoNumbers(account)
	}
	skipped := tables.Reservation{First: next, Next: next + min(leap, (math.MaxUint32-next)/2+1), Token: "restore"}
	if err := port.Reservations().Append(ctx, account, skipped); err != nil {
		return 0, err
	}
	return skipped.Next - 1, port.Settled().Append(ctx, account, tables.Settled{Next: skipped.Next})
}

func errNoNumbers(account string) error {
	return fmt.Errorf("account %s has used all of its %d numbers: back it up and restore it into a new data directory", account, uint32(math.MaxUint32))
}

// PublishRestored makes the units that were restored under a number live, by one
// commit that builds on nothing.
func PublishRestored(ctx context.Context, port tables.Port, account string, number uint32) error {
	units, err := port.Units().Read(ctx, account)
	if err != nil {
		return err
	}
	var entries []manifest.Entry
	for _, u := range units {
		if u.Number == number {
			entries = append(entries, u.Entry)
		}
	}
	m := manifest.New(number, entries...)
	if err := port.Commits().Append(ctx, account, manifest.Commit{Number: number, Rows: uint32(m.Len()), Digest: m.Digest()}); err != nil {
		return err
	}
	return port.Seals().Append(ctx, account, tables.Seal{Number: number})
}
