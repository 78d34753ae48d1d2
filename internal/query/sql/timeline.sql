SELECT
    /*bucket*/ AS bucket,
    /*sums*/
FROM day_totals
WHERE account_id = {account:String}
  AND generation IN {days:Array(UInt32)}
  AND day BETWEEN {from:Date} AND {to:Date}
GROUP BY bucket
ORDER BY bucket
