package commits

import (
	"context"
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
// no number below is unsettled: dead rows are not restored.
func Leap(ctx context.Context, port tables.Port, account string) error {
	all, err := port.Reservations().Read(ctx, account)
	if err != nil {
		return err
	}
	next := uint32(1)
	for _, r := range all {
		next = max(next, r.Next)
	}
	skipped := tables.Reservation{First: next, Next: next + min(leap, math.MaxUint32-next), Token: "restore"}
	if err := port.Reservations().Append(ctx, account, skipped); err != nil {
		return err
	}
	return port.Settled().Append(ctx, account, tables.Settled{Next: skipped.Next})
}

// PublishRestored makes the units that were restored under a number live, by one
// commit that builds on nothing.
func PublishRestored(ctx context.Context, port tables.Port, account string, number uint32) error {
	if err := Leap(ctx, port, account); err != nil {
		return err
	}
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
