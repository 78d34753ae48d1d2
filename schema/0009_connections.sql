-- Connections of accounts to the platform. The client secret and the refresh
-- token are sealed with the operator's key (internal/secret); accepted says
-- whether the platform took them the last time they were used.
CREATE TABLE IF NOT EXISTS connections (
    account_id String,
    region LowCardinality(String),
    client_id String,
    sealed String,
    connected_at DateTime64(3, 'UTC'),
    accepted Bool,
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Reports that were asked for and not loaded yet, so that a restart goes on
-- waiting for them instead of asking again. loaded hides a request.
CREATE TABLE IF NOT EXISTS report_requests (
    account_id LowCardinality(String),
    marketplace_id String,
    report_type LowCardinality(String),
    start_date Date,
    end_date Date,
    report_id String,
    requested_at DateTime64(3, 'UTC'),
    done Bool,
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (account_id, marketplace_id, report_type, start_date, end_date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
