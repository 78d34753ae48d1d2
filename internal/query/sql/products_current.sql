    SELECT product_key, marketplace_key, /*measures*/,
           /*earlier zeros*/
    FROM (
/*parts*/
    )
