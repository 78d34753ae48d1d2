SELECT
    ad_group_id,
    campaign_id,
    name,
    ad_product,
    state,
    default_bid
/*where*/
ORDER BY name, ad_group_id
LIMIT {limit:UInt32} OFFSET {offset:UInt64}
