package clickhouse

import (
	"context"
	"fmt"

	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

const (
	selectSeal      = `SELECT max(version), argMax(units, seals.version) FROM seals WHERE account_id = {account:String}`
	selectFactRows  = `SELECT generation, count() FROM facts WHERE account_id = {account:String} GROUP BY generation SETTINGS max_threads = 1`
	selectMonthRows = `SELECT generation, count() FROM month_products WHERE account_id = {account:String} GROUP BY generation SETTINGS max_threads = 1`
)

// Buildable makes sure that what a load builds on is there: the manifest, the
// facts from which it copies days, the months of which it makes years. It is
// the part of Losses that each load can afford. The caller is the account's
// only writer, so one look is enough.
func (db *DB) Buildable(ctx context.Context, account string) error {
	var (
		live          manifest.Manifest
		version       uint32
		units         uint64
		facts, months map[uint32]uint64
	)
	params := Params{"account": query.Text(account)}
	err := flight.Together(func() (err error) {
		live, err = db.Manifest(ctx, account)
		return err
	}, func() error {
		return db.reading(ctx, selectSeal, params, each(func(scan func(...any) error) error { return scan(&version, &units) }))
	}, func() (err error) {
		facts, err = db.rowsBy(ctx, selectFactRows, params)
		return err
	}, func() (err error) {
		months, err = db.rowsBy(ctx, selectMonthRows, params)
		return err
	})
	if err != nil {
		return err
	}
	var faults Faults
	if live.Version < version || uint64(live.Len()) < units {
		faults = append(faults, manifestLost)
	}
	for _, e := range live.Of(manifest.Month) {
		switch {
		case facts[e.Generation] != e.Rows:
			faults = append(faults, rowsLost(e.Unit, e.Generation, facts[e.Generation], e.Rows))
		case e.Rows > 0 && months[e.Generation] == 0:
			faults = append(faults, rollupsLost(e.Unit, e.Generation))
		}
	}
	if len(faults) > 0 {
		return damaged(account, faults)
	}
	return nil
}

func (db *DB) rowsBy(ctx context.Context, sql string, params Params) (map[uint32]uint64, error) {
	counts := map[uint32]uint64{}
	err := db.reading(ctx, sql, params, each(func(scan func(...any) error) error {
		var generation uint32
		var rows uint64
		err := scan(&generation, &rows)
		counts[generation] = rows
		return err
	}))
	return counts, err
}

// How losses are said.
const manifestLost = "the list of what is loaded (table manifest) is older or shorter than it was"

func rowsLost(u manifest.Unit, generation uint32, found, loaded uint64) string {
	return fmt.Sprintf("%s (generation %d) has %d rows, %d were loaded", u, generation, found, loaded)
}

func rollupsLost(u manifest.Unit, generation uint32) string {
	return fmt.Sprintf("%s (generation %d) has no rollups", u, generation)
}
