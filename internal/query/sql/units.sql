-- What is requested of generations, or all of them, to be kept in memory. In each part where another
-- account's rows begin, the index cannot exclude a generation; what the table
-- is partitioned by can.
SELECT
    generation,
    /*day*/ AS day_number,
    /*key*/,
    -- A number that is too large for 63 bits comes as the largest of them,
    -- which tells the reader so.
    /*columns*/
FROM /*table*/
WHERE account_id = {account:String}
  AND generation IN {generations:Array(UInt32)}/*partitions*/
  AND (/*figures*/)/*narrowed*//*group by*/
ORDER BY generation, /*order*/
SETTINGS max_threads = 1
