FROM ad_groups
WHERE account_id = {account:String}
  AND generation IN {ad_groups:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND {campaign:String} IN ('', campaign_id)
  AND ({search:String} = '' OR position(lowerUTF8(replaceRegexpAll(replaceRegexpAll(name, '[İı]', 'i'), '[Σς]', 'σ')), lowerUTF8(replaceRegexpAll(replaceRegexpAll({search:String}, '[İı]', 'i'), '[Σς]', 'σ'))) > 0)
  AND campaign_id IN (
      SELECT campaign_id
      FROM campaigns
      WHERE account_id = {account:String}
        AND generation IN {campaigns:Array(UInt32)}
        AND state IN {states:Array(String)}
  )
