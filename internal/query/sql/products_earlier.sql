    SELECT before.product_key AS product_key, before.marketplace_key AS marketplace_key,
           /*zeros*/,
           /*earlier measures*/
    FROM (
/*parts*/
    ) AS before
