    sum(impressions),
    sum(clicks),
    sum(purchases),
    reinterpret(sum(spend), 'UInt128') AS spend_millionths,
    reinterpret(sum(sales), 'UInt128') AS sales_millionths
