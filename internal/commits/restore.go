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

// Leap passes over the numbers that loads since a backup have used, and returns the last
// of them for the restored account's commit. Those before it are for so many
// generations: what a writer that has stood still since before the restore, a deletion,
// or another restore has under way is about other numbers, and what it commits, trims or
// seals is below.
func Leap(ctx context.Context, port tables.Port, account, token string, generations int) (number uint32, err error) {
	skipped, err := takeBlock(ctx, port, account, nil, func(first uint32) (tables.Reservation, error) {
		size := min(leap, (math.MaxUint32-first)/2+1)
		if first == math.MaxUint32 || int(size) <= generations {
			return tables.Reservation{}, errNoNumbers(account)
		}
		return tables.Reservation{First: first, Next: first + size, Token: token}, nil
	})
	return skipped.Next - 1, err
}

func errNoNumbers(account string) error {
	return fmt.Errorf("account %s has used all of its %d numbers: back it up and restore it into a new data directory", account, uint32(math.MaxUint32))
}

// PublishRestored makes the units that were restored under a number of Leap live, by one
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
	if err := port.Seals().Append(ctx, account, tables.Seal{Number: number}); err != nil {
		return err
	}
	return SettleRestored(ctx, port, account, number)
}

// SettleRestored says that no number up to one of Leap is unsettled: dead rows are not
// restored. What a restore that was overtaken stores is not live, and stays until a load
// after a writer's death counts all rows.
func SettleRestored(ctx context.Context, port tables.Port, account string, number uint32) error {
	return port.Settled().Append(ctx, account, tables.Settled{Next: number + 1})
}
