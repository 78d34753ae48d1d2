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

// Closing is what a restore in place knows of the commits that close its account.
type Closing struct {
	port    tables.Port
	account string
	mark    uint64
	before  []uint64 // the marks of attempts that had closed it already
}

// Close has nothing of an account read or loaded until Reopen, whatever becomes of
// the caller: every reader and writer reads the record of commits first. The mark tells
// this closing apart from any other one. Clear may be called when Leaving has passed
// since this call.
func Close(ctx context.Context, port tables.Port, account string, mark uint64) (Closing, error) {
	c := Closing{port: port, account: account, mark: mark}
	var err error
	if c.before, err = c.readMarks(ctx); err != nil {
		return c, err
	}
	return c, port.Commits().Append(ctx, account, manifest.Commit{Number: manifest.Closed, Digest: mark})
}

// readMarks reads the marks of those who have closed the account.
func (c Closing) readMarks(ctx context.Context) (marks []uint64, err error) {
	all, err := c.port.Commits().Read(ctx, c.account)
	for _, commit := range all {
		if commit.Number == manifest.Closed {
			marks = append(marks, commit.Digest)
		}
	}
	return marks, err
}

// RequireOurs fails where another restore has closed the account since, or has reopened
// it: a process that stood still for longer than its lock lives may not know that. What
// it did would be mixed with what the other one does.
func (c Closing) RequireOurs(ctx context.Context) error {
	marks, err := c.readMarks(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(marks), func(m uint64) bool { return m == c.mark || slices.Contains(c.before, m) })
	if !slices.Contains(marks, c.mark) || len(others) > 0 {
		return errTakenOver
	}
	return nil
}

// ClearedTables are those of which Clear deletes rows.
func ClearedTables() []string {
	return tables.Names(func(d tables.Description) bool {
		return d.InPlace == tables.Replaced && (!d.Directory || d.Backup != tables.Never)
	})
}

// Clear deletes what a backup brings back of the account. What was read of the platform
// goes with what was loaded: it is fetched again.
func (c Closing) Clear(ctx context.Context) error {
	for _, name := range ClearedTables() {
		if err := c.RequireOurs(ctx); err != nil {
			return err
		}
		if err := c.port.Clear(ctx, c.account, name); err != nil {
			return err
		}
	}
	return nil
}

// Withdraw is Reopen before anything was cleared. What an earlier attempt has closed may
// be half cleared, and stays closed.
func (c Closing) Withdraw(ctx context.Context) error {
	if len(c.before) > 0 {
		return nil
	}
	return c.Reopen(ctx)
}

// Reopen has the account answered again, but for another restore that closes it now.
func (c Closing) Reopen(ctx context.Context) error {
	if err := c.RequireOurs(ctx); err != nil {
		return err
	}
	return c.port.Reopen(ctx, c.account, append([]uint64{c.mark}, c.before...))
}
