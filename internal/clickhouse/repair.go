package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/loader"
)

// Faults returns what is wrong with the stored data of an account: what is
// missing, or cannot be read, or does not add up. It reads every figure.
func (db *DB) Faults(ctx context.Context, account string) (faults []string, err error) {
	ctx = Inspecting(ctx)
	losses, err := db.Losses(ctx, account)
	if err == nil && len(losses) > 0 {
		faults = make([]string, len(losses))
		for i, l := range losses {
			faults[i] = l.What
		}
		return faults, nil
	}
	if err == nil {
		faults, err = loader.Verify(ctx, LoadStore{DB: db}, account)
	}
	if adlens.KindOf(err) == adlens.Damaged {
		return []string{err.Error()}, nil
	}
	return faults, err
}

// Progress returns a text that is another one after every load and every restore
// of an account, and once what it lost of the directory is there again.
func (db *DB) Progress(ctx context.Context, account string) (text string, err error) {
	err = db.readOnce(Inspecting(ctx), `
SELECT concat(toString((SELECT max(next) FROM number_blocks WHERE account_id = {account:String})), ' ', toString(max(number)))
FROM commits WHERE account_id = {account:String}`, Params{"account": query.Text(account)}, each(func(scan func(...any) error) error { return scan(&text) }))
	if err != nil {
		return "", err
	}
	faults, err := directoryFaults(Inspecting(ctx), db.home, account)
	return fmt.Sprint(text, " ", faults[account]), err
}

// MendDirectory has what an account has of the directory count as all: the rows
// of a backup were put to those that are there. A key or a feed link of which the
// revocation was lost is revoked again.
func (db *DB) MendDirectory(ctx context.Context, account string) error {
	d, err := readDirectory(Inspecting(ctx), db.home, account)
	if err != nil {
		return err
	}
	for table, err := range d.Unreadable {
		return fmt.Errorf("%s cannot be read: %w; restore the whole backup into a new data directory or database", table, err)
	}
	params := Params{"account": query.Text(account)}
	for _, table := range []string{"api_keys", "feeds"} {
		err := db.home.exec(ctx, `
INSERT INTO `+table+` SELECT * REPLACE (now64(3) AS revoked_at, `+lastRevision+` AS updated_at)
FROM `+table+`
WHERE account_id = {account:String} AND sha256 NOT IN (SELECT sha256 FROM `+table+` WHERE updated_at = `+lastRevision+`)
    AND lower(hex(sha256)) IN (SELECT key FROM directory_seals WHERE table_name = '`+table+`' AND revision = toUnixTimestamp64Nano(`+lastRevision+`))
ORDER BY updated_at DESC
LIMIT 1 BY sha256`, params)
		if err != nil {
			return err
		}
	}
	if len(db.shards) > 1 {
		if err := db.findPlace(ctx, account); err != nil {
			return err
		}
	}
	if err := db.home.clearTable(ctx, "directory_seals", account); err != nil {
		return err
	}
	return db.home.sealAll(ctx)
}

// findPlace places an account where its newest commit is.
func (db *DB) findPlace(ctx context.Context, account string) error {
	id := query.Text(account)
	known, _, err := db.placements.read(Inspecting(ctx), id)
	if err != nil && adlens.KindOf(err) != adlens.Damaged {
		return err
	}
	newest, err := gather(ctx, db, func(s *server) (last uint32, err error) {
		err = s.readOnce(Inspecting(ctx), "SELECT max(number) FROM commits WHERE account_id = {account:String} AND number != {closed:UInt32}",
			Params{"account": id, "closed": number(manifest.Closed)}, each(func(scan func(...any) error) error { return scan(&last) }))
		return last, err
	})
	if err != nil {
		return err
	}
	best := slices.IndexFunc(db.shards, func(s *server) bool { return s.number == known })
	for i, n := range newest {
		if best < 0 || n > newest[best] {
			best = i
		}
	}
	return db.putAt(ctx, account, db.shards[best])
}

// kept are the tables of a shard that an account which is restored in its place
// keeps whole: no number that it gave out is given out again.
var kept = []string{"number_blocks"}

// restored are the tables of the directory that go with what was loaded: they say
// what need not be fetched from the platform again.
var restored = []string{"report_requests", "refreshed"}

// MakeRoom has nothing of an account answered or loaded from now on, until
// Reopen, and whatever becomes of the caller. Then it clears what a backup brings
// back, once no request can be reading it any more: wait hears how long that
// takes. The caller is the account's only writer.
func (db *DB) MakeRoom(ctx context.Context, account string, wait func(time.Duration)) error {
	s, err := db.holder(ctx, query.Text(account))
	lost := isRefusal(err)
	if lost { // its shard is another server now
		s, err = db.choose(ctx, account)
	}
	if err != nil {
		return err
	}
	age, err := db.closeAccount(ctx, s, account)
	if err == nil && lost {
		err = db.putAt(ctx, account, s)
	}
	if err != nil {
		return err
	}
	// Notes of what is dead go first: a deletion that has read one is over when
	// rows are restored under its number.
	if err := s.makeRoomIn(ctx, notes, account); err != nil {
		return s.named(err)
	}
	if age < leaving {
		wait(leaving - age)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(leaving - age):
		}
	}
	if err := db.stillHeld(account); err != nil {
		return err
	}
	left, err := s.left(ctx, account)
	if err != nil {
		return err
	}
	for _, table := range left {
		if !slices.Contains(kept, table) {
			if err := s.makeRoomIn(ctx, table, account); err != nil {
				return s.named(err)
			}
		}
	}
	for _, table := range restored {
		if err := db.home.makeRoomIn(ctx, table, account); err != nil {
			return err
		}
	}
	return nil
}

// closeAccount makes sure that the record of commits says that the account is
// being restored, and returns for how long it has done so.
func (db *DB) closeAccount(ctx context.Context, s *server, account string) (age time.Duration, err error) {
	params := Params{"account": query.Text(account), "closed": number(manifest.Closed)}
	var rows uint64
	var seconds int64
	err = s.readOnce(Inspecting(ctx), "SELECT count(), dateDiff('second', min(committed_at), now64(3)) FROM commits WHERE account_id = {account:String} AND number = {closed:UInt32}",
		params, each(func(scan func(...any) error) error { return scan(&rows, &seconds) }))
	if err != nil || rows > 0 {
		return time.Duration(seconds) * time.Second, err
	}
	return 0, db.announced(account, func() error {
		return s.exec(ctx, "INSERT INTO commits (account_id, number) SELECT {account:String}, {closed:UInt32}", params)
	})
}

// makeRoomIn clears a table of the rows of an account that a backup brings back.
func (s *server) makeRoomIn(ctx context.Context, table, account string) error {
	params := Params{"account": query.Text(account)}
	sql := "ALTER TABLE " + table + " DELETE WHERE " + rowsOf(table)
	if table == "commits" {
		sql, params["closed"] = sql+" AND number != {closed:UInt32}", number(manifest.Closed)
	}
	if err := s.exec(ctx, sql, params); err != nil {
		return fmt.Errorf("clearing %s: %w", table, err)
	}
	return nil
}

// Reopen has an account answered again after MakeRoom.
func (db *DB) Reopen(ctx context.Context, account string) error {
	if err := db.stillHeld(account); err != nil {
		return err
	}
	return db.announced(account, func() error {
		return db.exec(ctx, "ALTER TABLE commits DELETE WHERE account_id = {account:String} AND number = {closed:UInt32}",
			Params{"account": query.Text(account), "closed": number(manifest.Closed)})
	})
}
