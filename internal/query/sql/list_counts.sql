WITH
    listed_campaigns AS (
        SELECT marketplace_key, campaign_id
        FROM campaigns
        WHERE account_id = {account:String} AND generation IN {campaigns:Array(UInt32)} AND state IN {states:Array(String)}
    ),
    listed_ad_groups AS (
        SELECT marketplace_key, ad_group_id
        FROM ad_groups
        WHERE account_id = {account:String} AND generation IN {ad_groups:Array(UInt32)} AND state IN {states:Array(String)}
          AND (marketplace_key, campaign_id) IN (SELECT marketplace_key, campaign_id FROM listed_campaigns)
    )
SELECT marketplace_key, toUInt8(6) AS kind, count() FROM listed_campaigns GROUP BY marketplace_key
UNION ALL
SELECT marketplace_key, toUInt8(7) AS kind, count() FROM listed_ad_groups GROUP BY marketplace_key
UNION ALL
SELECT marketplace_key, toUInt8(8) AS kind, count()
FROM ads
WHERE account_id = {account:String} AND generation IN {ads:Array(UInt32)} AND state IN {states:Array(String)}
  AND (marketplace_key, ad_group_id) IN (SELECT marketplace_key, ad_group_id FROM listed_ad_groups)
GROUP BY marketplace_key
