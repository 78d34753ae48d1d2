-- The page is cut here, so that a few rows leave the engine and not all. Only
-- rows that may be on the page get their ids, which decide between equal
-- figures: streaming all ids past those few is cheaper than the other way.
SELECT
    page.id,
    titles.title,
    page.marketplace_keys,
    /*groups*/,
    /*page sums*/,
    page.total
FROM (
    SELECT product_id, title
    FROM product_titles
    WHERE account_id = {account:String} AND generation = {titles:UInt32}
) AS titles
RIGHT ANY JOIN (
    SELECT ids.product_id AS id, ranked.*
    FROM (
        SELECT product_key, product_id
        FROM products
        WHERE account_id = {account:String} AND generation = {products:UInt32}
    ) AS ids
    RIGHT ANY JOIN (
/*ranked*/
    ) AS ranked ON ids.product_key = ranked.product_key
    ORDER BY /*order*/
    LIMIT {limit:UInt64} OFFSET {offset:UInt64}
) AS page ON titles.product_id = page.id
ORDER BY /*order*/
