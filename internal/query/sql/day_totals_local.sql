SELECT
    generation,
    day,
    /*too wide*/ AS too_wide,
    /*local halves*/
FROM (
    SELECT generation, day, /*sums*/
    FROM (
        SELECT generation, day, /*wide*/
        FROM day_totals
        WHERE account_id = {account:String}
          AND generation IN {days:Array(UInt32)}
        UNION ALL
        SELECT generation, day, /*wide*/
        FROM facts
        WHERE account_id = {account:String}
          AND generation IN {undivided_days:Array(UInt32)}
    )
    GROUP BY generation, day
)
