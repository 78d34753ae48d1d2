 OR earlier_impressions_sum > 0
            OR earlier_clicks_sum > 0 OR earlier_purchases_sum > 0 OR earlier_spend_sum > 0 OR earlier_sales_sum > 0
