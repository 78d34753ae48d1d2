SELECT
    product_key,
    groupUniqArrayIf(marketplace_key, impressions > 0 OR clicks > 0 OR purchases > 0 OR spend > 0 OR sales > 0) AS marketplace_keys,
    /*sums*/
FROM (
/*parts*/
)
GROUP BY product_key
ORDER BY product_key
