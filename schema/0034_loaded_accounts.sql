-- Accounts that have loads, as far as the server with the directory was told: where the
-- shard of one has none, an older copy of its disk was put back (internal/clickhouse/integrity).
CREATE TABLE IF NOT EXISTS loaded_accounts (
    account_id String
) ENGINE = ReplacingMergeTree
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
