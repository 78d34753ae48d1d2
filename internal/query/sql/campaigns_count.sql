SELECT count()
FROM campaigns
WHERE account_id = {account:String}
  AND generation IN {campaigns:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND ({search:String} = '' OR position(lowerUTF8(translateUTF8(name, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc')), lowerUTF8(translateUTF8({search:String}, 'İıΣςſ\xc2\xb5', 'iiσσs\xce\xbc'))) > 0)
