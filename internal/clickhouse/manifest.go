package clickhouse

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const selectManifest = `
SELECT kind, marketplace_key, ad_product, start, version, generation, fact_rows,
       report_ids, report_times, report_hashes, report_days
FROM manifest
WHERE account_id = {account:String}
ORDER BY kind, marketplace_key, ad_product, start, version DESC
LIMIT 1 BY kind, marketplace_key, ad_product, start`

// Manifest reads what of an account is visible now.
func (db *DB) Manifest(ctx context.Context, account string) (manifest.Manifest, error) {
	type live struct {
		version uint32
		entry   manifest.Entry
	}
	all, err := collect(ctx, db, selectManifest, Params{"account": query.Text(account)}, func(scan func(...any) error) (live, error) {
		var l live
		err := scanEntry(scan, &l.version, &l.entry)
		return l, err
	})
	if err != nil {
		return manifest.Manifest{}, err
	}
	var version uint32
	entries := make([]manifest.Entry, len(all))
	for i, l := range all {
		entries[i] = l.entry
		version = max(version, l.version)
	}
	return manifest.New(version, entries...), nil
}

func scanEntry(scan func(...any) error, version *uint32, e *manifest.Entry) error {
	var (
		kind, adProduct uint8
		start           time.Time
		ids, hashes     []string
		times           []time.Time
		days            []uint32
	)
	err := scan(&kind, &e.Slice.Marketplace, &adProduct, &start, version, &e.Generation, &e.Rows, &ids, &times, &hashes, &days)
	e.Kind, e.Slice.AdProduct, e.Start = manifest.Kind(kind), adlens.AdProduct(adProduct), adlens.DayOf(start)
	for i := range ids {
		e.Sources = append(e.Sources, manifest.Source{ReportID: ids[i], GeneratedAt: times[i].UTC(), SHA256: hashes[i], Days: manifest.Days(days[i])})
	}
	return err
}

// Commit inserts the entries as one block: readers see all of them or none.
// It returns once readers in all processes know that they have to look.
func (db *DB) Commit(ctx context.Context, account string, version uint32, entries []manifest.Entry) error {
	if err := db.announced(account, func() error { return db.commit(ctx, account, version, entries) }); err != nil {
		return err
	}
	return db.seal(ctx, account)
}

// announced changes the manifest of an account, telling the readers in all
// processes.
func (db *DB) announced(account string, change func() error) error {
	marks := db.home.source.Marks()
	if marks == nil {
		return change()
	}
	settle, err := marks.Change(account)
	if err != nil {
		return err
	}
	// After an error nobody knows what became of the insert, and a mark that
	// cannot be set says the same: the change stays under way for readers,
	// who then ask each time.
	if err := change(); err != nil {
		return err
	}
	return settle()
}

func (db *DB) commit(ctx context.Context, account string, version uint32, entries []manifest.Entry) error {
	const columns = `INSERT INTO manifest (account_id, kind, marketplace_key, ad_product, start, version, generation, fact_rows,
		report_ids, report_times, report_hashes, report_days, committed_at)`
	if err := db.stillHeld(account); err != nil {
		return err
	}
	now := time.Now().UTC()
	return db.insert(ctx, account, columns, func(batch driver.Batch) error {
		for _, e := range entries {
			ids, times, hashes, days := sourceColumns(e.Sources)
			err := batch.Append(account, uint8(e.Kind), e.Slice.Marketplace, uint8(e.Slice.AdProduct), e.Start.Time(), version, e.Generation, e.Rows,
				ids, times, hashes, days, now)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func sourceColumns(sources []manifest.Source) (ids []string, times []time.Time, hashes []string, days []uint32) {
	for _, s := range sources {
		ids, times = append(ids, s.ReportID), append(times, s.GeneratedAt)
		hashes, days = append(hashes, s.SHA256), append(days, uint32(s.Days))
	}
	return ids, times, hashes, days
}

// Reserve gives out n numbers that were and will be given to nobody else. The
// caller is the account's only writer.
func (db *DB) Reserve(ctx context.Context, account string, n uint32) (uint32, error) {
	next := uint32(1)
	err := db.reading(ctx, "SELECT greatest(max(next), 1) FROM reservations WHERE account_id = {account:String}",
		Params{"account": query.Text(account)}, each(func(scan func(...any) error) error { return scan(&next) }))
	if err != nil {
		return 0, err
	}
	return next, db.insert(ctx, account, "INSERT INTO reservations (account_id, next)", func(batch driver.Batch) error {
		return batch.Append(account, next+n)
	})
}
