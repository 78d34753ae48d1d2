-- What is visible: the live generation of every unit of an account is that of
-- its row with the greatest version. One insert of one block without
-- partitions is atomic, so it is the only visible act of a load.
-- kind: 1 month of a slice, 2 year of a slice, 3 marketplaces, 4 rates,
-- 5 titles. The reports that speak for a month's days stand in parallel
-- arrays; bit 0 of report_days is the first day of the month.
CREATE TABLE IF NOT EXISTS manifest (
    account_id LowCardinality(String),
    kind UInt8,
    marketplace_key UInt16,
    ad_product UInt8,
    start Date,
    version UInt32,
    generation UInt32,
    fact_rows UInt64,
    report_ids Array(String),
    report_times Array(DateTime64(9, 'UTC')),
    report_hashes Array(String),
    report_days Array(UInt32),
    committed_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version)
ORDER BY (account_id, kind, marketplace_key, ad_product, start)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Generations and versions are reserved here before they are used, so that
-- what a crashed load left behind can never be taken for another load's.
CREATE TABLE IF NOT EXISTS reservations (
    account_id LowCardinality(String),
    next UInt32
) ENGINE = ReplacingMergeTree(next)
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What was loaded when, for people, and to pass over a file that is here
-- already without reading it again. No figure depends on it.
CREATE TABLE IF NOT EXISTS ledger (
    account_id LowCardinality(String),
    sha256 String,
    file String,
    report_id String,
    fact_rows UInt64,
    loaded_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(loaded_at)
ORDER BY (account_id, sha256, report_id);
