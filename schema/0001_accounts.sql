-- Accounts and keys. Rows are never changed: a newer row with the same key
-- replaces an older one, and queries take the newest.

CREATE TABLE IF NOT EXISTS accounts (
    account_id String,
    name String,
    is_demo Bool,
    subscription_status LowCardinality(String),
    created_at DateTime64(3, 'UTC'),
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Of a key, only its hash and its first characters are kept.
CREATE TABLE IF NOT EXISTS api_keys (
    sha256 FixedString(32),
    key_id String,
    account_id String,
    name String,
    start String,
    scopes Array(LowCardinality(String)),
    created_at DateTime64(3, 'UTC'),
    expires_at Nullable(DateTime64(3, 'UTC')),
    revoked_at Nullable(DateTime64(3, 'UTC')),
    updated_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated_at)
ORDER BY sha256
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The last use of each key is written apart from the key and seldom, so that
-- reading the API does not rewrite keys.
CREATE TABLE IF NOT EXISTS api_key_uses (
    key_id String,
    last_used_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(last_used_at)
ORDER BY key_id;
