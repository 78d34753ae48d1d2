SELECT count()
FROM campaigns
WHERE account_id = {account:String}
  AND generation IN {campaigns:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND ({search:String} = '' OR position(lowerUTF8(name), lowerUTF8({search:String})) > 0)
