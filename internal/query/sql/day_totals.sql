SELECT
    generation,
    day,
    /*halves*/
FROM day_totals
WHERE account_id = {account:String}
  AND generation IN {days:Array(UInt32)}
