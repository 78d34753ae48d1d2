SELECT count()
FROM campaigns
WHERE account_id = {account:String}
  AND generation IN {campaigns:Array(UInt32)}
  AND state IN {states:Array(String)}
