-- What any list ever said of isMultiAdGroupsEnabled of the account's campaigns of
-- Sponsored Brands: one_ad_group is 1 where one said false, else 0 where one said
-- true, else 2 for a campaign that was listed without it. Of the first alone the
-- figures of older reports count, and no list takes that back. Lists of before
-- this step are not among what was said.
CREATE TABLE IF NOT EXISTS campaign_forms (
    account_id LowCardinality(String),
    generation UInt32,
    marketplace_key UInt16,
    campaign_id String,
    one_ad_group UInt8
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, generation, marketplace_key, campaign_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
