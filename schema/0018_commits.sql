-- The record of commits. One row makes all units live that were written under
-- its number; from the greatest number backwards, each row names the one on
-- which it builds, and that chain alone is live (internal/commits). So an insert
-- that is carried out late, of a writer that has died, is never seen: the next
-- writer reserved a greater number before it read anything.
CREATE TABLE IF NOT EXISTS commits (
    account_id LowCardinality(String),
    number UInt32,
    base UInt32,
    units UInt32,
    digest UInt64,
    committed_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, number)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What each commit made of the units that it replaced. Of a unit the row of the
-- newest live commit counts. A commit that builds on nothing names all units.
-- rows has the number of rows in each table of the unit's kind. The reports that
-- speak for a month's days are in parallel arrays; bit 0 of report_days is the
-- first day of the month.
CREATE TABLE IF NOT EXISTS commit_units (
    account_id LowCardinality(String),
    number UInt32,
    kind UInt8,
    marketplace_key UInt16,
    ad_product UInt8,
    start Date,
    generation UInt32,
    rows Array(UInt64),
    report_ids Array(String),
    report_times Array(DateTime64(9, 'UTC')),
    report_hashes Array(String),
    report_days Array(UInt32)
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, number, kind, marketplace_key, ad_product, start)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Blocks of numbers that writers took for themselves before they read anything.
-- Numbers are generations and the numbers of commits; none is given twice.
CREATE TABLE IF NOT EXISTS number_blocks (
    account_id LowCardinality(String),
    first UInt32,
    next UInt32,
    token String
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, first, token)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The numbers under which products are stored: 1 and up, without gaps. They
-- belong to a generation like all that a load writes, so a load that is not live
-- gives no product a number.
CREATE TABLE IF NOT EXISTS products (
    account_id LowCardinality(String),
    generation UInt32,
    product_key UInt32,
    product_id String
) ENGINE = ReplacingMergeTree
ORDER BY (account_id, generation, product_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE dead_generations MODIFY COLUMN found_at DEFAULT now64(3);

-- What follows takes accounts over that were written before there were commits:
-- all that was live becomes one commit that builds on nothing, with the rows as
-- they are counted now. It passes over accounts that have commits, so it may run
-- again, as it does after a backup of that time was restored. The act is last.
INSERT INTO number_blocks
SELECT account_id, 1, max(next), ''
FROM reservations
WHERE account_id NOT IN (SELECT account_id FROM number_blocks)
GROUP BY account_id;

INSERT INTO products
SELECT k.account_id, m.number, k.product_key, k.product_id
FROM (SELECT account_id, product_key, product_id FROM product_keys FINAL) AS k
INNER JOIN (
    SELECT account_id, max(version) AS number FROM manifest
    WHERE account_id NOT IN (SELECT account_id FROM commits)
    GROUP BY account_id
) AS m USING (account_id);

INSERT INTO commit_units (account_id, number, kind, marketplace_key, ad_product, start, generation, rows,
    report_ids, report_times, report_hashes, report_days)
WITH counted AS (
    SELECT account_id, generation, sumIf(n, place = 1) AS first, sumIf(n, place = 2) AS second, sumIf(n, place = 3) AS third
    FROM (
        SELECT account_id, generation, count() AS n, 1 AS place FROM facts GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 2 FROM day_totals GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 3 FROM month_products GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM year_products GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM marketplaces GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM rates GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM product_titles GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM rules GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM rule_runs GROUP BY account_id, generation
        UNION ALL SELECT account_id, generation, count(), 1 FROM activity GROUP BY account_id, generation
    )
    GROUP BY account_id, generation
), live AS (
    SELECT *, max(version) OVER (PARTITION BY account_id) AS number
    FROM manifest FINAL
    WHERE account_id NOT IN (SELECT account_id FROM commits)
)
SELECT account_id, number, kind, marketplace_key, ad_product, start, generation,
    multiIf(kind = 1, [fact_rows, second, third], kind IN (6, 7, 8), [fact_rows], [first]) AS rows,
    report_ids, report_times, report_hashes, report_days
FROM live LEFT JOIN counted USING (account_id, generation)
UNION ALL
SELECT account_id, generation AS number, 12, 0, 0, toDate(0), generation, [uniqExact(product_key)], [], [], [], []
FROM products
WHERE account_id NOT IN (SELECT account_id FROM commits)
GROUP BY account_id, generation;

INSERT INTO commits (account_id, number, base, units, digest, committed_at)
SELECT account_id, max(version), 0, toUInt32(greatest(count(), any(sealed))), 0, max(committed_at)
FROM manifest FINAL
LEFT JOIN (SELECT account_id, argMax(units, version) AS sealed FROM seals GROUP BY account_id) AS s USING (account_id)
WHERE account_id NOT IN (SELECT account_id FROM commits)
GROUP BY account_id;
