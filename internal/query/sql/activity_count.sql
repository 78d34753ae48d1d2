SELECT count()
FROM activity
WHERE account_id = {account:String} AND generation = {activity:UInt32} AND tool IN {tools:Array(String)}/*limited entries*/
