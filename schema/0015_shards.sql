-- Where accounts are, of which the first shard of a cluster keeps a row each: the
-- one of the highest version counts. An account without a row is on the first
-- shard, as in a database that was a single server before.
CREATE TABLE IF NOT EXISTS placements (
    account_id String,
    shard UInt16,
    version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Which shard of which cluster this database is, so that none is ever taken for
-- another. Empty in a database by itself.
CREATE TABLE IF NOT EXISTS shard (
    number UInt16,
    cluster String
) ENGINE = ReplacingMergeTree
ORDER BY number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
