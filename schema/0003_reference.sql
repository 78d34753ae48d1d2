-- Small tables whose whole content for an account is one unit: a load that
-- changes one row writes all of them with a new generation.

CREATE TABLE IF NOT EXISTS marketplaces (
    account_id LowCardinality(String),
    generation UInt32,
    marketplace_key UInt16,
    marketplace_id String,
    country_code LowCardinality(String),
    currency_code LowCardinality(String),
    timezone LowCardinality(String),
    vendor Bool,
    name String
) ENGINE = MergeTree
ORDER BY (account_id, generation, marketplace_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- US dollars for one unit of the currency on a day.
CREATE TABLE IF NOT EXISTS rates (
    account_id LowCardinality(String),
    generation UInt32,
    currency LowCardinality(String),
    day Date,
    usd Decimal(38, 20)
) ENGINE = MergeTree
ORDER BY (account_id, generation, currency, day)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS product_titles (
    account_id LowCardinality(String),
    generation UInt32,
    product_id String,
    title String
) ENGINE = MergeTree
ORDER BY (account_id, generation, product_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Products are grouped by a small number, twice as fast as by their ids. The
-- numbers are given once and never change, so they need no generation. Key 0
-- is the group of figures that the platform ties to no product.
CREATE TABLE IF NOT EXISTS product_keys (
    account_id LowCardinality(String),
    product_key UInt32,
    product_id String
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
