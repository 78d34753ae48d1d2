-- How many rows of some stored numbers whole years have.
SELECT /*key*/, generation, count()
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}
  AND /*key*/ IN {keys:Array(UInt32)}
GROUP BY /*key*/, generation
