-- Campaigns, ad groups and ads as the platform listed them, archived ones
-- included: what is shown follows from the states of all parents. A list of
-- one marketplace and ad product is one unit and is replaced whole.

CREATE TABLE IF NOT EXISTS campaigns (
    account_id LowCardinality(String),
    generation UInt32,
    campaign_id String,
    name String,
    marketplace_key UInt16,
    ad_product UInt8,
    state LowCardinality(String),
    targeting LowCardinality(String),
    budget Nullable(Decimal(38, 20)),
    budget_type LowCardinality(String),
    start_date Nullable(Date32),
    end_date Nullable(Date32)
) ENGINE = MergeTree
ORDER BY (account_id, generation, campaign_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS ad_groups (
    account_id LowCardinality(String),
    generation UInt32,
    ad_group_id String,
    campaign_id String,
    name String,
    marketplace_key UInt16,
    ad_product UInt8,
    state LowCardinality(String),
    default_bid Nullable(Decimal(38, 20))
) ENGINE = MergeTree
ORDER BY (account_id, generation, ad_group_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS ads (
    account_id LowCardinality(String),
    generation UInt32,
    ad_id String,
    ad_group_id String,
    marketplace_key UInt16,
    ad_product UInt8,
    state LowCardinality(String)
) ENGINE = MergeTree
ORDER BY (account_id, generation, ad_group_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
