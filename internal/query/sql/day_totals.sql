SELECT
    generation,
    day,
    toUInt64(impressions), toUInt64(bitShiftRight(impressions, 64)),
    toUInt64(clicks), toUInt64(bitShiftRight(clicks, 64)),
    toUInt64(purchases), toUInt64(bitShiftRight(purchases, 64)),
    toUInt64(reinterpret(spend, 'UInt128')), toUInt64(bitShiftRight(reinterpret(spend, 'UInt128'), 64)),
    toUInt64(reinterpret(sales, 'UInt128')), toUInt64(bitShiftRight(reinterpret(sales, 'UInt128'), 64))
FROM day_totals
WHERE account_id = {account:String}
  AND generation IN {days:Array(UInt32)}
