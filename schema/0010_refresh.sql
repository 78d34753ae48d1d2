-- Work against the platform that rests after it was done, by a name such as
-- lists/ACCOUNT/MARKETPLACE: when it was last begun, by the server's clock, and
-- how often in a row it failed since. A killed attempt counts as failed.
CREATE TABLE IF NOT EXISTS attempts (
    name String,
    began_at DateTime64(3, 'UTC'),
    failures UInt16,
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Up to which day the platform's reports were read and loaded: through is the
-- last day of the newest one, deep_through of the newest that read again all
-- that the platform still restates.
CREATE TABLE IF NOT EXISTS refreshed (
    account_id LowCardinality(String),
    marketplace_id String,
    report_type LowCardinality(String),
    through Date,
    deep_through Date,
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (account_id, marketplace_id, report_type)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
