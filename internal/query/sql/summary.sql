SELECT
    marketplace_key,
    ad_product,
    /*sums*/
FROM day_totals
WHERE account_id = {account:String}
  AND generation IN {days:Array(UInt32)}
  AND day BETWEEN {from:Date} AND {to:Date}
GROUP BY marketplace_key, ad_product
ORDER BY marketplace_key, ad_product
