    SELECT then.product_key AS product_key, then.marketplace_key AS marketplace_key,
           toUInt128(0) AS impressions, toUInt128(0) AS clicks, toUInt128(0) AS purchases,
           toDecimal128(0, 6) AS spend, toDecimal128(0, 6) AS sales,
           then.impressions AS earlier_impressions, then.clicks AS earlier_clicks, then.purchases AS earlier_purchases,
           then.spend AS earlier_spend, then.sales AS earlier_sales
    FROM (
/*parts*/
    ) AS then
