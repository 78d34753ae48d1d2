package backup

import (
	"context"
	"errors"
	"fmt"
)

// Verify reads every file of a backup and returns what is damaged or missing,
// by name. It needs no database.
func Verify(ctx context.Context, p Place, t Taken, progress Progress) (faults []error, err error) {
	for i, e := range t.Accounts {
		progress.Account(e.Account, i, len(t.Accounts))
		found, err := verifyAccount(ctx, p, e, progress)
		if err != nil {
			return faults, err
		}
		faults = append(faults, found...)
	}
	return faults, nil
}

func verifyAccount(ctx context.Context, p Place, e Entry, progress Progress) (faults []error, err error) {
	c, err := readWhole(ctx, p, e)
	if isDamage(err) {
		return []error{err}, nil
	}
	for _, f := range c.Files {
		if _, err := verifyFile(ctx, p, f); isDamage(err) {
			faults = append(faults, err)
		} else if err != nil {
			return faults, err
		}
		progress.Rows(f.Rows, 0)
	}
	return faults, err
}

func isDamage(err error) bool {
	var damage *Damage
	return errors.As(err, &damage)
}

// readWhole reads a catalogue and holds it against the index.
func readWhole(ctx context.Context, p Place, e Entry) (catalogue, error) {
	c, err := readCatalogue(ctx, p, e)
	if err != nil {
		return c, err
	}
	files, rows, stored := c.totalSizes()
	if files != e.Files || rows != e.Rows || stored != e.Stored {
		return c, &Damage{e.Catalogue, fmt.Errorf("it has %d files of %d rows and %d bytes, the index says %d, %d and %d", files, rows, stored, e.Files, e.Rows, e.Stored)}
	}
	return c, nil
}
