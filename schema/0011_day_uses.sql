-- How many requests of an account each server let in on a day of UTC, so that
-- the limit of a day outlives a restart. A server that ended still counts. The
-- rows are not synced to the disk: what a power cut takes is a few requests.
CREATE TABLE IF NOT EXISTS day_uses (
    account_id LowCardinality(String),
    day Date,
    server String,
    used UInt32,
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (day, account_id, server)
TTL day + INTERVAL 3 DAY;
