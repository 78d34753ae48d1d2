package integrity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// Inspector looks through what is stored in a database.
type Inspector struct {
	*Guard
	cluster *cluster.Cluster
	verify  func(ctx context.Context, account string) (faults []string, err error)
}

// NewInspector returns the inspector of a database that a guard watches. verify
// reads every figure of an account and returns what does not add up.
func NewInspector(c *cluster.Cluster, g *Guard, verify func(ctx context.Context, account string) (faults []string, err error)) *Inspector {
	i := &Inspector{g, c, verify}
	if len(c.Shards()) > 1 {
		g.leave = i.leaveElsewhere
	}
	return i
}

// Begin inspects all servers, and every session that is opened later.
func (i *Inspector) Begin(ctx context.Context) error {
	i.Start()
	return i.InspectAll(ctx)
}

// InspectAll looks through all servers that answer, as the guard does with each
// new session, and for accounts that are on another shard than they are placed on.
func (i *Inspector) InspectAll(ctx context.Context) error {
	err := i.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		return s.InspectAgain(ctx)
	})
	if err != nil {
		return err
	}
	misplaced, err := i.findMisplaced(ctx, "")
	if adlens.KindOf(err) == adlens.Damaged { // the directory's own faults were found above
		return nil
	}
	misplaced = slices.DeleteFunc(misplaced, func(l commits.Loss) bool { // as where its place is lost
		return i.Admit(query.Text(l.Account)) != nil
	})
	i.withholdLosses(misplaced)
	return err
}

// SealDirectory acknowledges what the directory has and a command did not seal: it failed
// between the two, or was killed, and nothing repeats it. It notes which accounts have loads.
func (i *Inspector) SealDirectory(ctx context.Context) error {
	return errors.Join(directory.SealAll(ctx, i.cluster.Home().Server), i.noteLoaded(ctx))
}

// Damage is what is known to be wrong with the stored data.
type Damage struct {
	Lost    map[string][]string // by account: what is missing
	Unread  error               // what was met that cannot be read, nil for nothing
	Refused []error             // of each shard that is not the server that its accounts are on
	Lacking []error             // of each shard whose replicas answer without one
}

// Damage returns what is known now.
func (i *Inspector) Damage() Damage {
	lost, unread := i.known()
	return Damage{lost, unread, i.cluster.Refused(), i.cluster.Lacking()}
}

// Losses compares what is stored of an account, or of all where it is "", with
// what was loaded, and names what is missing. It costs little, and finds rows
// that went, not such that changed: that is what Faults does.
func (i *Inspector) Losses(ctx context.Context, account string) ([]commits.Loss, error) {
	if account == "" {
		all, err := cluster.Gather(ctx, i.cluster, func(s *cluster.Shard) ([]commits.Loss, error) { return i.shardLosses(ctx, s) })
		if err != nil {
			return nil, err
		}
		misplaced, err := i.findMisplaced(ctx, "")
		return append(slices.Concat(all...), misplaced...), err
	}
	return i.accountLosses(ctx, account)
}

// accountLosses reads no commits, facts or lists of other accounts: what of them cannot
// be read is no fault of this one.
func (i *Inspector) accountLosses(ctx context.Context, account string) ([]commits.Loss, error) {
	s, err := i.cluster.Holder(ctx, query.Text(account))
	if err != nil {
		return nil, err
	}
	c, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	all, err := commits.AccountLosses(ctx, databaseOf(c), account)
	if err == nil {
		var rows []commits.Loss
		rows, err = directoryLosses(ctx, i.cluster.Home(), account)
		all = append(all, rows...)
	}
	if err == nil {
		var misplaced []commits.Loss
		misplaced, err = i.findMisplaced(ctx, account)
		all = append(all, misplaced...)
	}
	if adlens.KindOf(err) == adlens.Damaged {
		return append(all, commits.Loss{Account: account, What: err.Error()}), nil
	}
	return all, err
}

func (i *Inspector) shardLosses(ctx context.Context, s *cluster.Shard) ([]commits.Loss, error) {
	c, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	losses, err := commits.FindLosses(ctx, databaseOf(c))
	if err != nil || i.leave == nil {
		return losses, err
	}
	return i.leave(ctx, c, losses)
}

// LookAgain looks through everything of an account that is withheld. Where
// nothing is wrong with it any more, it is read again.
func (i *Inspector) LookAgain(ctx context.Context, account string) (whole bool, err error) {
	return i.withheld.LookAgain(query.Text(account), func() ([]string, error) { return i.Faults(ctx, account) })
}

// DamagedParts are the parts of our tables that the server found damaged, and
// set aside, when it started. What was in them is in no answer any more; it may
// have been of no account, as that of a load which a power cut ended. Tables
// that are not synced to the disk, because nothing hangs on them, do not count. Of replicas
// each names its own.
func (i *Inspector) DamagedParts(ctx context.Context) (parts []string, err error) {
	expendable := tables.Names(func(d tables.Description) bool { return d.Expendable })
	var adding sync.Mutex
	err = i.cluster.WhereReachable(ctx, func(s *cluster.Shard) error {
		return s.AtReplicas(func(at *conn.Server) error {
			texts, err := at.ReadTexts(ctx, `
SELECT concat(table, ' ', name, ' (', reason, ')')
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken') AND table NOT IN ('leases', '`+strings.Join(expendable, "', '")+`')`)
			adding.Lock()
			defer adding.Unlock()
			for _, text := range texts {
				if s.IsReplicated() {
					text += " at " + at.Address()
				}
				parts = append(parts, text)
			}
			return err
		})
	})
	slices.Sort(parts)
	return parts, err
}

// DirectoryFaults returns what each account lost of the directory.
func (i *Inspector) DirectoryFaults(ctx context.Context) (map[string][]string, error) {
	return directory.FindFaults(ctx, i.cluster.Home(), "")
}

// RequireDirectory returns an error of kind adlens.Damaged where an account lost
// something of the directory, or its place there is not where its loads are.
func (i *Inspector) RequireDirectory(ctx context.Context, account string) error {
	faults, err := directory.FindFaults(ctx, i.cluster.Home(), account)
	if err != nil {
		return err
	}
	misplaced, err := i.findMisplaced(ctx, account)
	all := faults[account]
	for _, l := range misplaced {
		all = append(all, l.What)
	}
	if err == nil && len(all) > 0 {
		err = commits.Damaged(account, all)
	}
	return err
}

// Faults returns what is wrong with the stored data of an account: what is
// missing, or cannot be read, or does not add up. It reads every figure.
func (i *Inspector) Faults(ctx context.Context, account string) (faults []string, err error) {
	ctx = conn.Inspecting(ctx)
	losses, err := i.Losses(ctx, account)
	if err == nil && len(losses) > 0 {
		for _, l := range losses {
			faults = append(faults, l.What)
		}
		return faults, nil
	}
	if err == nil {
		faults, err = i.verify(ctx, account)
	}
	if adlens.KindOf(err) == adlens.Damaged {
		return []string{err.Error()}, nil
	}
	return faults, err
}

// Progress returns a text that is another one after every load and every restore
// of an account, and once what it lost of the directory is there again.
func (i *Inspector) Progress(ctx context.Context, account string) (text string, err error) {
	err = i.cluster.ReadOnce(conn.Inspecting(ctx), `
SELECT concat(toString((SELECT max(next) FROM number_blocks WHERE account_id = {account:String})), ' ', toString(max(number)))
FROM commits WHERE account_id = {account:String}`, conn.Params{"account": query.Text(account)}, conn.ScanInto(&text))
	if err != nil {
		return "", err
	}
	faults, err := directory.FindFaults(conn.Inspecting(ctx), i.cluster.Home(), account)
	return fmt.Sprint(text, " ", faults[account]), err
}

// MendDirectory has what an account has of the directory count as all: the rows
// of a backup were put to those that are there. A key, a link or a connection of an
// assistant of which the last change was lost is revoked. tell hears of these, and of what
// else is older than it was, before that is forgotten.
func (i *Inspector) MendDirectory(ctx context.Context, account string, tell func(text string)) error {
	home := i.cluster.Home()
	lost, err := lostKeys(ctx, home.Server, account)
	if err != nil {
		return err
	}
	if err := revokeAgain(ctx, home.Server, account, lost, tell); err != nil {
		return err
	}
	tellLost(account, lost, tell)
	if err := home.Announce(conn.Directory, func() error { return renewRows(ctx, home.Server, account, lost) }); err != nil {
		return err
	}
	if len(i.cluster.Shards()) > 1 {
		if err := i.findPlace(ctx, account); err != nil {
			return err
		}
	}
	return forgetMissing(ctx, home.Server, account)
}

// lostKeys are the keys of the rows that are missing or older than their seals, by table.
func lostKeys(ctx context.Context, home *conn.Server, account string) (map[string][]string, error) {
	d, err := directory.Read(conn.Inspecting(ctx), home, account)
	if err != nil {
		return nil, err
	}
	for table, err := range d.Unreadable {
		return nil, fmt.Errorf("%s cannot be read: %w; restore the whole backup into a new data directory or database", table, err)
	}
	lost := map[string][]string{}
	for _, r := range d.Lost() {
		lost[r.Table] = append(lost[r.Table], r.Key)
	}
	return lost, nil
}

// tellLost names the rows that are as the backup has them, and may have been ended since:
// an account that was canceled is answered, a connection that was removed is used.
func tellLost(account string, lost map[string][]string, tell func(text string)) {
	var names []string
	for range lost["accounts"] {
		names = append(names, "account "+account)
	}
	for _, key := range lost["connections"] {
		_, name, _ := strings.Cut(strings.TrimPrefix(key, account), "/")
		names = append(names, strings.TrimSpace("connection "+name))
	}
	if len(names) > 0 {
		slices.Sort(names)
		tell("the last changes of these were lost, and they are as in the backup: " + strings.Join(names, ", ") +
			"; repeat what was done since, as connection remove or account set --subscription canceled")
	}
}

// lostRows selects of a table the newest row of each key that is there, but older than
// its seal.
func lostRows(account, table string, keys []string) (rows string, params conn.Params) {
	key := directory.KeyOf(table)
	return `
FROM (
    SELECT * FROM ` + table + `
    WHERE account_id = {account:String} AND has(splitByChar(',', {keys:String}), ` + key + `)
    ORDER BY updated_at DESC
    LIMIT 1 BY ` + key + `
)`, conn.Params{"account": query.Text(account), "keys": query.Text(strings.Join(keys, ","))}
}

// revokeAgain revokes the keys, links and connections of assistants of which the last
// change was lost. tell hears their names before: what is revoked is no longer lost to a
// restore that is repeated. After they were made, keys and links change only when
// they end or are replaced, and the tokens of an assistant whose change was lost are gone.
func revokeAgain(ctx context.Context, home *conn.Server, account string, lost map[string][]string, tell func(text string)) error {
	var names []string
	var steps []func() error
	for _, t := range []struct{ table, id, what string }{{"api_keys", "key_id", "key"}, {"feeds", "feed_id", "link"}, {"apps", "app_id", "assistant"}} {
		if len(lost[t.table]) == 0 {
			continue
		}
		rows, params := lostRows(account, t.table, lost[t.table])
		ids, err := conn.CollectValues[string](conn.Inspecting(ctx), home, "SELECT DISTINCT "+t.id+rows+" ORDER BY "+t.id, params)
		if err != nil {
			return err
		}
		for _, id := range ids {
			names = append(names, t.what+" "+id)
		}
		steps = append(steps, func() error {
			return home.Exec(ctx, "INSERT INTO "+t.table+" SELECT * REPLACE (now64(3) AS revoked_at, "+directory.LastRevision+" AS updated_at)"+rows, params)
		})
	}
	if len(names) > 0 {
		tell("the last changes of these were lost, and they are revoked: " + strings.Join(names, ", ") + "; make others where they are needed")
	}
	return home.Announce(conn.Directory, func() error {
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// renewRows gives what else is older than its seal, and cannot be ended here, a number
// after all seals: from then on it is what counts.
func renewRows(ctx context.Context, home *conn.Server, account string, lost map[string][]string) error {
	for _, table := range []string{"accounts", "connections"} {
		if len(lost[table]) == 0 {
			continue
		}
		rows, params := lostRows(account, table, lost[table])
		err := home.Exec(ctx, `
INSERT INTO `+table+` SELECT * REPLACE (greatest(now64(9, 'UTC'), (
    SELECT fromUnixTimestamp64Nano(toInt64(max(revision)), 'UTC') + INTERVAL 1 NANOSECOND
    FROM directory_seals
    WHERE account_id = {account:String} AND table_name = '`+table+`'
)) AS updated_at)`+rows, params)
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetMissing removes the seals of rows that are nowhere any more: no other row is
// unwatched meanwhile.
func forgetMissing(ctx context.Context, home *conn.Server, account string) error {
	lost, err := lostKeys(ctx, home, account)
	if err != nil {
		return err
	}
	for table, keys := range lost {
		err := home.Exec(ctx, "ALTER TABLE directory_seals DELETE WHERE account_id = {account:String} AND table_name = {table:String} AND has(splitByChar(',', {keys:String}), key)",
			conn.Params{"account": query.Text(account), "table": query.Text(table), "keys": query.Text(strings.Join(keys, ","))})
		if err != nil {
			return fmt.Errorf("clearing directory_seals: %w", err)
		}
	}
	return directory.SealAll(ctx, home)
}

// findPlace places an account where its newest commit is, unless the shard where it is
// placed has loads of it, or had some: what others have then is left of a move. A place that
// the list of shards lacks stays too: what is there cannot be seen from here.
func (i *Inspector) findPlace(ctx context.Context, account string) error {
	known, _, err := i.cluster.Placements().Read(conn.Inspecting(ctx), query.Text(account))
	lost := adlens.KindOf(err) == adlens.Damaged
	if err != nil && !lost {
		return err
	}
	last, err := cluster.Gather(ctx, i.cluster, func(s *cluster.Shard) (map[string]uint32, error) {
		return smalltables.LastWrites(conn.Inspecting(ctx), s, account)
	})
	if err != nil {
		return err
	}
	shards := i.cluster.Shards()
	best, had := slices.IndexFunc(shards, func(s *cluster.Shard) bool { return s.Number == known }), false
	if best < 0 && !lost {
		return nil
	}
	if best >= 0 && !lost {
		_, had = last[best][account]
	}
	for place, numbers := range last {
		if best < 0 || !had && numbers[account] > last[best][account] {
			best = place
		}
	}
	return i.cluster.Placements().Put(ctx, account, shards[best])
}
