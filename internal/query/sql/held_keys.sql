-- Which whole years have rows of some stored numbers.
SELECT DISTINCT /*key*/, generation
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}
  AND /*key*/ IN {keys:Array(UInt32)}
