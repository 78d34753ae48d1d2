package clickhouse

import (
	"context"

	"adlens/internal/records"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json"
)

// readRecords reads the records of a statement's only column.
func readRecords[R records.Record](ctx context.Context, db *DB, sql string, params Params) ([]R, error) {
	return collect(ctx, db, sql, params, func(scan func(...any) error) (R, error) {
		var record R
		var text string
		if err := scan(&text); err != nil {
			return record, err
		}
		return record, json.Unmarshal([]byte(text), &record)
	})
}

// Rules reads all rules in the order of their ids.
func (db *DB) Rules(ctx context.Context, account string, generation uint32) ([]records.Rule, error) {
	return readRecords[records.Rule](ctx, db, `SELECT record FROM rules
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY rule_id`, of(account, generation))
}

// InsertRules writes all rules under a new generation.
func (db *DB) InsertRules(ctx context.Context, account string, generation uint32, all []records.Rule) error {
	return insertEach(ctx, db, account, "INSERT INTO rules (account_id, generation, rule_id, edited_at, record)", all, func(batch driver.Batch, r records.Rule) error {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return batch.Append(account, generation, string(r.ID), r.EditedAt, string(text))
	})
}

// RuleRuns reads all runs of all rules.
func (db *DB) RuleRuns(ctx context.Context, account string, generation uint32) ([]records.RuleRun, error) {
	return readRecords[records.RuleRun](ctx, db, `SELECT record FROM rule_runs
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY rule_id, started_at, rule_run_id`, of(account, generation))
}

// InsertRuleRuns writes all runs under a new generation.
func (db *DB) InsertRuleRuns(ctx context.Context, account string, generation uint32, all []records.RuleRun) error {
	return insertEach(ctx, db, account, "INSERT INTO rule_runs (account_id, generation, rule_id, rule_run_id, test, started_at, record)", all,
		func(batch driver.Batch, r records.RuleRun) error {
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			return batch.Append(account, generation, string(r.RuleID), string(r.ID), r.Test, r.StartedAt, string(text))
		})
}

// Activity reads all activity entries.
func (db *DB) Activity(ctx context.Context, account string, generation uint32) ([]records.Activity, error) {
	return readRecords[records.Activity](ctx, db, `SELECT record FROM activity
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY occurred_at, activity_id`, of(account, generation))
}

// InsertActivity writes all activity entries under a new generation.
func (db *DB) InsertActivity(ctx context.Context, account string, generation uint32, all []records.Activity) error {
	const columns = "INSERT INTO activity (account_id, generation, activity_id, occurred_at, tool, marketplace_id, created_campaign_ids, changed_campaign_ids, record)"
	return insertEach(ctx, db, account, columns, all, func(batch driver.Batch, a records.Activity) error {
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		return batch.Append(account, generation, string(a.ID), a.OccurredAt, a.Tool, string(a.MarketplaceID),
			texts(a.CreatedCampaignIDs), texts(a.ChangedCampaignIDs), string(text))
	})
}

func texts(ids []records.ID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return all
}
