-- Up to which of an account's reserved numbers it is known what became of them:
-- live, noted as dead, or never used. What is reserved above was reserved by a
-- load that is under way or did not end well.
CREATE TABLE IF NOT EXISTS accounted (
    account_id LowCardinality(String),
    next UInt32
) ENGINE = ReplacingMergeTree(next)
ORDER BY account_id;

-- A note that is lost would never be written again.
ALTER TABLE dead_generations MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

-- A new part of facts is one file instead of two for each of some seventy
-- columns, all of which are synced. Merging makes wide parts of them.
ALTER TABLE facts MODIFY SETTING min_bytes_for_wide_part = 134217728;
