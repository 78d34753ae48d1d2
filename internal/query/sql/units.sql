-- Whole generations, to be kept in memory. A number that is too large for 63
-- bits comes as the largest of them, which tells the reader so.
SELECT
    generation,
    /*day*/ AS day_number,
    marketplace_key,
    product_key,
    toUInt64(least(impressions, 9223372036854775807)),
    toUInt64(least(clicks, 9223372036854775807)),
    toUInt64(least(purchases, 9223372036854775807)),
    toUInt64(least(reinterpret(toDecimal128(spend, 6), 'UInt128'), 9223372036854775807)),
    toUInt64(least(reinterpret(toDecimal128(sales, 6), 'UInt128'), 9223372036854775807))
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}
  AND (/*figures*/)
ORDER BY generation, /*order*/
SETTINGS max_threads = 1
