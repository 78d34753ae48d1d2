FROM ad_groups
WHERE account_id = {account:String}
  AND generation IN {ad_groups:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND {campaign:String} IN ('', campaign_id)
  AND ({search:String} = '' OR position(lowerUTF8(translateUTF8(name, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc')), lowerUTF8(translateUTF8({search:String}, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc'))) > 0)
  AND campaign_id IN (
      SELECT campaign_id
      FROM campaigns
      WHERE account_id = {account:String}
        AND generation IN {campaigns:Array(UInt32)}
        AND state IN {states:Array(String)}
  )
