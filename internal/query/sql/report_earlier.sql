    SELECT /*columns*/,
           /*zeros*/,
           /*earlier measures*/
    FROM (
/*parts*/
    ) AS before
