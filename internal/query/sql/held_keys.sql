-- Which of some stored numbers have rows in whole years.
SELECT DISTINCT /*key*/
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}
  AND /*key*/ IN {keys:Array(UInt32)}
