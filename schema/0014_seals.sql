-- What the manifest of an account held after its last load: how many units, and
-- a digest of their live generations. A manifest that has less lost something.
-- A load that is killed before it seals leaves the seal of the one before.
CREATE TABLE IF NOT EXISTS seals (
    account_id LowCardinality(String),
    version UInt32,
    units UInt64,
    digest UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
