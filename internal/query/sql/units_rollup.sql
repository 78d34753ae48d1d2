    -- A number that is too large for 63 bits comes as the largest of them,
    -- which tells the reader so.
    toUInt64(least(impressions, 9223372036854775807)),
    toUInt64(least(clicks, 9223372036854775807)),
    toUInt64(least(purchases, 9223372036854775807)),
    toUInt64(least(reinterpret(spend, 'UInt128'), 9223372036854775807)),
    toUInt64(least(reinterpret(sales, 'UInt128'), 9223372036854775807))
