SELECT r.record, /*last run*/
FROM rules AS r
LEFT JOIN (
    SELECT rule_id, argMax(record, (started_at, rule_run_id)) AS record
    FROM rule_runs
    WHERE account_id = {account:String} AND generation = {runs:UInt32} AND NOT test/*limited runs*/
    GROUP BY rule_id
) AS l ON l.rule_id = r.rule_id
WHERE r.account_id = {account:String} AND r.generation = {rules:UInt32}
ORDER BY r.edited_at DESC, r.rule_id DESC
LIMIT {limit:UInt32} OFFSET {offset:UInt64}
