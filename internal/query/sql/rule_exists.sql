SELECT count()
FROM rules
WHERE account_id = {account:String} AND generation = {rules:UInt32} AND rule_id = {rule:String}
