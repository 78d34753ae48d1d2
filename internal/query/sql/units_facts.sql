    impressions,
    clicks,
    purchases,
    reinterpret(spend, 'UInt64'),
    reinterpret(sales, 'UInt64')
