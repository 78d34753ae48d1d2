SELECT sum(length(record))
FROM (
    SELECT record
    FROM rule_runs
    WHERE account_id = {account:String} AND generation = {runs:UInt32} AND rule_id = {rule:String} AND NOT test/*limited runs*/
    ORDER BY started_at DESC, rule_run_id DESC
    LIMIT {limit:UInt32}
)
