package commits

import (
	"context"
	"slices"
	"time"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Leaving is for how long a request that has begun may still be reading what was
// visible then.
const Leaving = 40 * time.Second

// Close has nothing of an account read or loaded until Reopen, whatever becomes of
// the caller: every reader and writer reads the record of commits first. Notes of
// what is dead go at once: a deletion that has read one is over when rows are
// restored under its number. ClearClosed may be called when Leaving has passed since
// this call, also where the account was closed before: what an earlier attempt has
// sent may still be on its way.
func Close(ctx context.Context, port tables.Port, account string) error {
	all, err := port.Commits().Read(ctx, account)
	if err == nil && !slices.ContainsFunc(all, func(c manifest.Commit) bool { return c.Number == manifest.Closed }) {
		err = port.Commits().Append(ctx, account, manifest.Commit{Number: manifest.Closed})
	}
	if err != nil {
		return err
	}
	return port.Clear(ctx, account, "dead_generations")
}

// ClearClosed deletes what a backup brings back of an account that is closed. What
// was read of the platform goes with what was loaded: it is fetched again.
func ClearClosed(ctx context.Context, port tables.Port, account string) error {
	return port.Clear(ctx, account, tables.Names(func(d tables.Description) bool {
		return d.InPlace == tables.Replaced && (!d.Directory || d.Backup != tables.Never)
	})...)
}
