package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// ownRows filter the tables that do not name their account in account_id.
var ownRows = map[string]string{
	"api_key_uses": "key_id IN (SELECT key_id FROM api_keys WHERE account_id = {account:String} UNION ALL SELECT app_id FROM apps WHERE account_id = {account:String} UNION ALL SELECT feed_id FROM feeds WHERE account_id = {account:String})",
	"attempts":     "splitByChar('/', name)[2] = {account:String}",
}

// RowsOf filters the rows of an account, the parameter, in a table.
func RowsOf(table string) string {
	if filter, own := ownRows[table]; own {
		return filter
	}
	return "account_id = {account:String}"
}

// CountOf returns the term that counts the rows of a table: where one may be stored twice, by
// the column that makes them one.
func CountOf(table string) string {
	if d, _ := tables.Find(table); d.RowKey != "" {
		return "uniqExact(" + d.RowKey + ")"
	}
	return "count()"
}

// TablesWith returns those of some tables that hold rows of an account, of any
// where it is "".
func (s *Shard) TablesWith(ctx context.Context, names []string, account string) ([]string, error) {
	looks := make([]string, len(names))
	for i, table := range names {
		looks[i] = fmt.Sprintf("SELECT %d AS place, '%s' AS name FROM (SELECT 1 FROM %s WHERE {account:String} = '' OR %s LIMIT 1)", i, table, table, RowsOf(table))
	}
	return conn.CollectValues[string](ctx, s, "SELECT name FROM ("+strings.Join(looks, "\nUNION ALL\n")+") ORDER BY place", conn.Params{"account": query.Text(account)})
}

// ClearTable deletes the rows of an account from a table, or all rows where it is
// "".
func (s *Shard) ClearTable(ctx context.Context, table, account string) error {
	sql, params := "TRUNCATE TABLE "+table, conn.Params(nil)
	var err error
	switch {
	case account == "":
	case table == "api_key_uses": // replicas refuse to delete by a subquery
		sql, params = "ALTER TABLE "+table+" DELETE WHERE has(splitByChar(',', {keys:String}), key_id)", conn.Params{}
		params["keys"], err = conn.Value[string](ctx, s, "SELECT arrayStringConcat(groupUniqArray(key_id), ',') FROM "+table+" WHERE "+RowsOf(table), conn.Params{"account": query.Text(account)})
	default:
		sql, params = "ALTER TABLE "+table+" DELETE WHERE "+RowsOf(table), conn.Params{"account": query.Text(account)}
	}
	if err == nil {
		err = s.Exec(ctx, sql, params)
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", table, err)
	}
	return nil
}

// HeldUntil returns until when the lock on an account is held at least, as the server tells
// time. A lock that may have been lost is an error. The time is read before the lock is looked
// at, so a process that stands still in between has the less of it.
func (s *Shard) HeldUntil(ctx context.Context, account string) (until moves.Deadline, err error) {
	var running uint32
	err = s.ReadAsOwner(ctx, "SELECT now64(3), uptime()", nil, conn.ScanInto(&until.Clock, &running))
	if err == nil {
		err = s.cluster.RequireHeld(account)
	}
	until.Clock, until.Since = until.Clock.Add(HeldFor), time.Duration(running)*time.Second
	until.Running = until.Since + HeldFor
	return until, s.Name(err)
}

// ClearTableUntil is ClearTable of one account by a statement that fails where the server takes
// it after a deadline. What is written once it was taken stays. The server that takes it looks
// at its time, once.
func (s *Shard) ClearTableUntil(ctx context.Context, table, account string, until moves.Deadline) error {
	err := s.Exec(ctx, `
ALTER TABLE `+table+` DELETE WHERE account_id = {account:String} AND (
    SELECT throwIf(toUnixTimestamp64Milli(now64(3)) > {until:Int64} OR uptime() > {running:UInt32} OR uptime() < {since:UInt32}, 'the lock on the account may have ended; do it again') = 0)
SETTINGS mutations_execute_subqueries_on_initiator = 1`,
		conn.Params{"account": query.Text(account), "until": strconv.FormatInt(until.Clock.UnixMilli(), 10), "running": conn.Number(uint32(until.Running.Seconds())), "since": conn.Number(uint32(until.Since.Seconds()))})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", table, err)
	}
	return nil
}

// ClearTables deletes the rows of an account from those of some tables that hold
// any, and looks before each whether it still may.
func (s *Shard) ClearTables(ctx context.Context, tables []string, account string, before func() error) error {
	held, err := s.TablesWith(ctx, tables, account)
	if err != nil {
		return err
	}
	for _, table := range held {
		if err := before(); err != nil {
			return err
		}
		if err := s.ClearTable(ctx, table, account); err != nil {
			return err
		}
	}
	return nil
}
