-- Rollups: exact sums of the facts of a generation, written by the load that
-- wrote the facts. They hold the measures that the API answers, in types that
-- no sum overflows.

CREATE TABLE IF NOT EXISTS day_totals (
    account_id LowCardinality(String),
    generation UInt32,
    day Date,
    marketplace_key UInt16,
    ad_product UInt8,
    impressions UInt128,
    clicks UInt128,
    purchases UInt128,
    spend Decimal(38, 6),
    sales Decimal(38, 6)
) ENGINE = MergeTree
ORDER BY (account_id, generation, day)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS month_products (
    account_id LowCardinality(String),
    generation UInt32,
    month Date,
    product_key UInt32 CODEC(Delta, LZ4),
    marketplace_key UInt16,
    ad_product UInt8,
    impressions UInt128,
    clicks UInt128,
    purchases UInt128,
    spend Decimal(38, 6),
    sales Decimal(38, 6)
) ENGINE = MergeTree
PARTITION BY toYear(month)
ORDER BY (account_id, generation, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- A year's generation is its own: it is written anew when one of its months
-- is, from the live months.
CREATE TABLE IF NOT EXISTS year_products (
    account_id LowCardinality(String),
    generation UInt32,
    year Date,
    product_key UInt32 CODEC(Delta, LZ4),
    marketplace_key UInt16,
    ad_product UInt8,
    impressions UInt128,
    clicks UInt128,
    purchases UInt128,
    spend Decimal(38, 6),
    sales Decimal(38, 6)
) ENGINE = MergeTree
ORDER BY (account_id, generation, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
