SELECT
    campaign_id,
    name,
    ad_product,
    state,
    targeting,
    budget,
    budget_type,
    start_date,
    end_date,
    multiIf(
        campaign_id IN (
            SELECT arrayJoin(created_campaign_ids)
            FROM activity
            WHERE account_id = {account:String} AND generation = {activity:UInt32} AND marketplace_id = {marketplace:String}
        ), 'created',
        campaign_id IN (
            SELECT arrayJoin(changed_campaign_ids)
            FROM activity
            WHERE account_id = {account:String} AND generation = {activity:UInt32} AND marketplace_id = {marketplace:String}
        ), 'changed',
        'untouched'
    ) AS provenance
FROM campaigns
WHERE account_id = {account:String}
  AND generation IN {campaigns:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND ({search:String} = '' OR position(lowerUTF8(translateUTF8(name, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc')), lowerUTF8(translateUTF8({search:String}, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc'))) > 0)
ORDER BY name, campaign_id
LIMIT {limit:UInt32} OFFSET {offset:UInt64}
