    SELECT product_key, marketplace_key, impressions, clicks, purchases, spend, sales,
           toUInt128(0) AS earlier_impressions, toUInt128(0) AS earlier_clicks, toUInt128(0) AS earlier_purchases,
           toDecimal128(0, 6) AS earlier_spend, toDecimal128(0, 6) AS earlier_sales
    FROM (
/*parts*/
    )
