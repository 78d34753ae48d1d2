SELECT count()
FROM rules
WHERE account_id = {account:String} AND generation = {rules:UInt32}
