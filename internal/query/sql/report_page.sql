SELECT
    '' AS id,
    '' AS title,
    page.marketplace_keys,
    /*groups*/,
    /*page sums*/,
    page.total
FROM (
/*ranked*/
) AS page
ORDER BY /*order*/
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
