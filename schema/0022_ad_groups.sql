-- Facts by campaign and ad group: one row per generation, day, product, campaign
-- and ad group. 0 is the group of what the platform ties to none, and of all
-- that was loaded before this step.
--
-- spend and sales of a product's day are shared among its rows, so that they
-- still add up to what is rounded once (loader/shares.go).
ALTER TABLE facts
    ADD COLUMN IF NOT EXISTS campaign_key UInt32 CODEC(ZSTD(1)) AFTER product_key,
    ADD COLUMN IF NOT EXISTS ad_group_key UInt32 CODEC(ZSTD(1)) AFTER campaign_key;

-- Amounts in the marketplace's own currency are nearly always whole cents, of which
-- GCD stores the number.
ALTER TABLE facts
    MODIFY COLUMN spend_local CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_local CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_1d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_7d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_14d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_30d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN attributed_sales_same_sku_1d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN attributed_sales_same_sku_7d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN attributed_sales_same_sku_14d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN attributed_sales_same_sku_30d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_other_sku_7d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN royalty_qualified_borrows CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN kindle_edition_normalized_pages_royalties_14d CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_clicks CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_promoted CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN new_to_brand_sales CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN new_to_brand_sales_clicks CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN royalty_qualified_borrows_from_clicks CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN sales_promoted_clicks CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN royalty_qualified_borrows_from_views CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN kindle_edition_normalized_pages_royalties CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN kindle_edition_normalized_pages_royalties_from_clicks CODEC(GCD, ZSTD(1)),
    MODIFY COLUMN kindle_edition_normalized_pages_royalties_from_views CODEC(GCD, ZSTD(1));

-- The columns that each report had of those that are kept, with commas between
-- them, parallel to report_ids: what was not reported is unknown, and not 0.
-- Empty for reports that were loaded before this step.
ALTER TABLE commit_units ADD COLUMN IF NOT EXISTS report_columns Array(LowCardinality(String));

-- Rollups by campaign, ad group and product. Units that were loaded before this
-- step have none, and count one number of rows less in commit_units: their
-- rollup by product says the same.
-- ZSTD keeps wide sums in half of the space that LZ4 takes.
CREATE TABLE IF NOT EXISTS month_ad_groups (
    account_id LowCardinality(String),
    generation UInt32,
    month Date,
    campaign_key UInt32 CODEC(Delta, ZSTD(1)),
    ad_group_key UInt32 CODEC(Delta, ZSTD(1)),
    product_key UInt32 CODEC(Delta, ZSTD(1)),
    marketplace_key UInt16,
    ad_product UInt8,
    impressions UInt128 CODEC(ZSTD(1)),
    clicks UInt128 CODEC(ZSTD(1)),
    purchases UInt128 CODEC(ZSTD(1)),
    spend Decimal(38, 6) CODEC(ZSTD(1)),
    sales Decimal(38, 6) CODEC(ZSTD(1)),
    spend_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    sales_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    spend_local_rest UInt128 CODEC(ZSTD(1)),
    sales_local_rest UInt128 CODEC(ZSTD(1))
) ENGINE = MergeTree
PARTITION BY toYear(month)
ORDER BY (account_id, generation, campaign_key, ad_group_key, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS year_ad_groups (
    account_id LowCardinality(String),
    generation UInt32,
    year Date,
    campaign_key UInt32 CODEC(Delta, ZSTD(1)),
    ad_group_key UInt32 CODEC(Delta, ZSTD(1)),
    product_key UInt32 CODEC(Delta, ZSTD(1)),
    marketplace_key UInt16,
    ad_product UInt8,
    impressions UInt128 CODEC(ZSTD(1)),
    clicks UInt128 CODEC(ZSTD(1)),
    purchases UInt128 CODEC(ZSTD(1)),
    spend Decimal(38, 6) CODEC(ZSTD(1)),
    sales Decimal(38, 6) CODEC(ZSTD(1)),
    spend_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    sales_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    spend_local_rest UInt128 CODEC(ZSTD(1)),
    sales_local_rest UInt128 CODEC(ZSTD(1))
) ENGINE = MergeTree
ORDER BY (account_id, generation, campaign_key, ad_group_key, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The amounts of rollups in the marketplace's own currency, as facts have them: the
-- sums of the millionths and of the rests. Units that have no rollup by ad group
-- have 0 there, and are read from their facts.
ALTER TABLE day_totals
    ADD COLUMN IF NOT EXISTS spend_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS spend_local_rest UInt128 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local_rest UInt128 CODEC(ZSTD(1));

ALTER TABLE month_products
    ADD COLUMN IF NOT EXISTS spend_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS spend_local_rest UInt128 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local_rest UInt128 CODEC(ZSTD(1));

ALTER TABLE year_products
    ADD COLUMN IF NOT EXISTS spend_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local Decimal(38, 6) CODEC(GCD, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS spend_local_rest UInt128 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sales_local_rest UInt128 CODEC(ZSTD(1));

-- Campaigns (entity_type 1) and ad groups (2) that are in facts, by the number
-- under which they are stored: 1 and up, without gaps, of both together. The
-- name is the newest that a report gave, and named_at that report's
-- generatedAt; the lists of campaigns and ad groups may know a newer one.
CREATE TABLE IF NOT EXISTS entities (
    account_id LowCardinality(String),
    generation UInt32,
    entity_key UInt32,
    entity_type UInt8,
    entity_id String,
    name String,
    named_at DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, generation, entity_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
