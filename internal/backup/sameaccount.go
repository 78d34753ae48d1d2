package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adlens"
)

// requireRestored makes sure that accounts are there because they were restored, and
// have what was loaded: an account that was added after a restore was killed has its
// id, is empty, and has no fault.
func (r *restoring) requireRestored(ctx context.Context, chosen []Entry) error {
	header, err := r.Columns(ctx, UnitTable)
	if err != nil {
		return err
	}
	for _, e := range chosen {
		c, err := readWhole(ctx, r.place, e)
		if err != nil {
			return err
		}
		if err := r.requireSameAccount(ctx, e.Account, c); err != nil {
			return fmt.Errorf("account %s: %w", e.Account, err)
		}
		live, err := r.Live(ctx, e.Account, header)
		if err != nil {
			return err
		}
		if len(live) == 0 && slices.ContainsFunc(c.Files, func(f File) bool { return isUnits(f.Table) }) {
			return fmt.Errorf("account %s is there, and nothing of what the backup has of it: restore into another data directory or database", e.Account)
		}
	}
	return nil
}

// requireSameAccount refuses where the account that is there was made at another time than
// the backup's. What says when may be what was lost: then nothing is compared.
func (r *restoring) requireSameAccount(ctx context.Context, id string, c catalogue) error {
	all, err := r.Accounts(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(a adlens.Account) bool { return a.ID == id })
	if at < 0 {
		return nil
	}
	there := all[at]
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Table == "accounts" })
	if i < 0 {
		return &Damage{c.Account, errors.New("the backup does not say when the account was made")}
	}
	return r.readBlocks(ctx, id, c.Files[i], func(b *Block) error {
		if made := time.UnixMilli(int64(b.numberAt("created_at", 0))).UTC(); !made.Equal(there.CreatedAt.Truncate(time.Millisecond)) {
			return fmt.Errorf("the account of the backup was made at %s, the one that is there at %s: that is another account with its name; restore it into another data directory or database",
				made.Format(time.RFC3339), there.CreatedAt.Format(time.RFC3339))
		}
		return nil
	})
}
