-- Connections of assistants to accounts. One row is a connection from its
-- invitation to its end: a newer row with the same app_id replaces an older one,
-- and only moves on. Of every secret, only its hash and the first instant at
-- which it is invalid are kept; hashes of zeros and times of 1970 are of what did
-- not happen yet. access_sha256 and access_expires_at are in parallel: the tokens
-- that are not expired, the newest last.
CREATE TABLE IF NOT EXISTS apps (
    app_id String,
    account_id String,
    invited_at DateTime64(3, 'UTC'),
    invite_sha256 FixedString(32),
    invite_expires_at DateTime64(3, 'UTC'),
    family_sha256 FixedString(32),
    name String,
    client_id String,
    redirect_uri String,
    resource String,
    challenge String,
    code_sha256 FixedString(32),
    code_expires_at DateTime64(3, 'UTC'),
    connected_at Nullable(DateTime64(3, 'UTC')),
    refresh_sha256 FixedString(32),
    refresh_expires_at DateTime64(3, 'UTC'),
    access_sha256 Array(FixedString(32)),
    access_expires_at Array(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY app_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
