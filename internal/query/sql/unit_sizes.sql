SELECT generation, count()
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}
GROUP BY generation
SETTINGS max_threads = 1
