package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adlens/internal/clickhouse"
	"adlens/loader"

	"go.uber.org/zap"
)

// intact makes sure, before anything is answered, that parts which the database
// found damaged held nothing that is shown: figures are right or they are not
// shown at all.
func (d *data) intact(ctx context.Context, log *zap.Logger) error {
	parts, err := d.DamagedParts(ctx)
	if err != nil || len(parts) == 0 {
		return err
	}
	log.Warn("the database set damaged parts aside; everything is held against what was loaded", zap.Strings("parts", parts))
	accounts, err := d.Accounts(ctx)
	if err != nil {
		return err
	}
	var damage []error
	for _, a := range accounts {
		faults, err := loader.Verify(ctx, clickhouse.LoadStore{DB: d.DB, Locker: d.locker}, a.ID)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			damage = append(damage, fmt.Errorf("account %s: %s", a.ID, strings.Join(faults, "; ")))
		}
	}
	if len(damage) > 0 {
		return fmt.Errorf("the data is damaged, and answers would be wrong: restore a backup, or load the extracts into a new data directory (%w)", errors.Join(damage...))
	}
	log.Info("nothing that is shown was in them")
	return nil
}
