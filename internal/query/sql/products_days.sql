    SELECT product_key, marketplace_key, toUInt128(impressions) AS impressions, toUInt128(clicks) AS clicks,
           toUInt128(purchases) AS purchases, toDecimal128(spend, 6) AS spend, toDecimal128(sales, 6) AS sales
    FROM facts
    WHERE account_id = {account:String}
      AND generation IN {days:Array(UInt32)}
      AND day BETWEEN {from:Date} AND {to:Date}
