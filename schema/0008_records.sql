-- The service's own records. Each kind is one unit of the account: a load
-- that changes one record writes all of them with a new generation. What is
-- only ever shown is kept as JSON.

CREATE TABLE IF NOT EXISTS rules (
    account_id LowCardinality(String),
    generation UInt32,
    rule_id String,
    edited_at DateTime64(3, 'UTC'),
    record String
) ENGINE = MergeTree
ORDER BY (account_id, generation, rule_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS rule_runs (
    account_id LowCardinality(String),
    generation UInt32,
    rule_id String,
    rule_run_id String,
    test Bool,
    started_at DateTime64(3, 'UTC'),
    record String
) ENGINE = MergeTree
ORDER BY (account_id, generation, rule_id, started_at, rule_run_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS activity (
    account_id LowCardinality(String),
    generation UInt32,
    activity_id String,
    occurred_at DateTime64(3, 'UTC'),
    tool LowCardinality(String),
    marketplace_id String,
    created_campaign_ids Array(String),
    changed_campaign_ids Array(String),
    record String
) ENGINE = MergeTree
ORDER BY (account_id, generation, occurred_at, activity_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
