SELECT count()
FROM campaigns
WHERE account_id = {account:String}
  AND generation IN {campaigns:Array(UInt32)}
  AND state IN {states:Array(String)}
  AND ({search:String} = '' OR position(lowerUTF8(replaceRegexpAll(replaceRegexpAll(name, '[İı]', 'i'), '[Σς]', 'σ')), lowerUTF8(replaceRegexpAll(replaceRegexpAll({search:String}, '[İı]', 'i'), '[Σς]', 'σ'))) > 0)
