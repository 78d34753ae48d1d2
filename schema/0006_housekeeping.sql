-- Claims of writers, where several machines share the server (see
-- internal/clickhouse/lease.go).
CREATE TABLE IF NOT EXISTS leases (
    account_id LowCardinality(String),
    token String,
    holder String,
    expires_at DateTime64(3, 'UTC'),
    beat DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(beat)
ORDER BY (account_id, token)
TTL toDateTime(expires_at) + INTERVAL 1 DAY;

-- Generations that were found dead, and when: their rows are deleted once no
-- query that began before can still read them.
CREATE TABLE IF NOT EXISTS dead_generations (
    account_id LowCardinality(String),
    table_name LowCardinality(String),
    generation UInt32,
    found_at DateTime64(3, 'UTC')
) ENGINE = MergeTree
ORDER BY (account_id, table_name, generation);
