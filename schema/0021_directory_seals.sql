-- How far each row of accounts, api_keys, feeds, connections and placements has
-- come: the number of its last change that was acknowledged (internal/commits).
-- Numbers only grow, so a row that is gone, or is older than its seal, was lost.
-- A change that was killed before its seal leaves the one before. Rows that are
-- there already are sealed once the step is done.
CREATE TABLE IF NOT EXISTS directory_seals (
    table_name LowCardinality(String),
    key String,
    account_id String,
    revision UInt64
) ENGINE = ReplacingMergeTree(revision)
ORDER BY (table_name, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
