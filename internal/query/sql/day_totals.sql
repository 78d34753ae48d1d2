SELECT
    generation,
    day,
    false AS too_wide,
    /*halves*/
FROM day_totals
WHERE account_id = {account:String}
  AND generation IN {days:Array(UInt32)}
