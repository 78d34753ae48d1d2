    SELECT before.product_key AS product_key, before.marketplace_key AS marketplace_key,
           toUInt128(0) AS impressions, toUInt128(0) AS clicks, toUInt128(0) AS purchases,
           toDecimal128(0, 6) AS spend, toDecimal128(0, 6) AS sales,
           before.impressions AS earlier_impressions, before.clicks AS earlier_clicks, before.purchases AS earlier_purchases,
           before.spend AS earlier_spend, before.sales AS earlier_sales
    FROM (
/*parts*/
    ) AS before
