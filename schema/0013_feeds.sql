-- Addresses that answer one saved request without a key. Of the token in the
-- address, only its hash and its first characters are kept. request is the
-- path and the query string that are answered. Rows are never changed: a newer
-- row with the same hash replaces an older one.
CREATE TABLE IF NOT EXISTS feeds (
    sha256 FixedString(32),
    feed_id String,
    account_id String,
    name String,
    start String,
    request String,
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY sha256
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
