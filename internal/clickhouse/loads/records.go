package loads

import (
	"context"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/records"
)

// RecordStore is the records of the service: rules, their runs and activity.
type RecordStore struct{ cluster *cluster.Cluster }

// Rules reads all rules in the order of their ids.
func (r RecordStore) Rules(ctx context.Context, account string, generation uint32) ([]records.Rule, error) {
	return conn.CollectJSON[records.Rule](ctx, r.cluster, `SELECT record FROM rules
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY rule_id`, ofGeneration(account, generation))
}

// InsertRules writes all rules under a new generation.
func (r RecordStore) InsertRules(ctx context.Context, account string, generation uint32, all []records.Rule) error {
	return insertEach(ctx, r.cluster, account, "INSERT INTO rules (account_id, generation, rule_id, edited_at, record)", all, func(batch conn.Batch, rule records.Rule) error {
		text, err := records.EncodeRecord(rule)
		if err != nil {
			return err
		}
		return batch.Append(account, generation, string(rule.ID), rule.EditedAt, string(text))
	})
}

// RuleRuns reads all runs of all rules.
func (r RecordStore) RuleRuns(ctx context.Context, account string, generation uint32) ([]records.RuleRun, error) {
	return conn.CollectJSON[records.RuleRun](ctx, r.cluster, `SELECT record FROM rule_runs
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY rule_id, started_at, rule_run_id`, ofGeneration(account, generation))
}

// InsertRuleRuns writes all runs under a new generation.
func (r RecordStore) InsertRuleRuns(ctx context.Context, account string, generation uint32, all []records.RuleRun) error {
	return insertEach(ctx, r.cluster, account, "INSERT INTO rule_runs (account_id, generation, rule_id, rule_run_id, test, started_at, record)", all,
		func(batch conn.Batch, run records.RuleRun) error {
			text, err := records.EncodeRecord(run)
			if err != nil {
				return err
			}
			return batch.Append(account, generation, string(run.RuleID), string(run.ID), run.Test, run.StartedAt, string(text))
		})
}

// Activity reads all activity entries.
func (r RecordStore) Activity(ctx context.Context, account string, generation uint32) ([]records.Activity, error) {
	return conn.CollectJSON[records.Activity](ctx, r.cluster, `SELECT record FROM activity
WHERE account_id = {account:String} AND generation = {generation:UInt32} ORDER BY occurred_at, activity_id`, ofGeneration(account, generation))
}

// InsertActivity writes all activity entries under a new generation.
func (r RecordStore) InsertActivity(ctx context.Context, account string, generation uint32, all []records.Activity) error {
	const columns = "INSERT INTO activity (account_id, generation, activity_id, occurred_at, tool, marketplace_id, created_campaign_ids, changed_campaign_ids, record)"
	return insertEach(ctx, r.cluster, account, columns, all, func(batch conn.Batch, a records.Activity) error {
		text, err := records.EncodeRecord(a)
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
