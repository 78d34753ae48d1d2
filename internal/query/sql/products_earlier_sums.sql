,
                sum(earlier_impressions) AS earlier_impressions_sum,
                sum(earlier_clicks) AS earlier_clicks_sum,
                sum(earlier_purchases) AS earlier_purchases_sum,
                reinterpret(sum(earlier_spend), 'UInt128') AS earlier_spend_sum,
                reinterpret(sum(earlier_sales), 'UInt128') AS earlier_sales_sum
