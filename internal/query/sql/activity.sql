SELECT /*entry*/
FROM activity
WHERE account_id = {account:String} AND generation = {activity:UInt32} AND tool IN {tools:Array(String)}/*limited entries*/
ORDER BY occurred_at DESC, activity_id DESC
LIMIT {limit:UInt32} OFFSET {offset:UInt64}
