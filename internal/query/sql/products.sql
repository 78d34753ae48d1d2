SELECT
    product_key,
    /*marketplaces*/ AS marketplace_keys,
    /*sums*/
FROM (
/*parts*/
)
GROUP BY product_key
ORDER BY product_key
