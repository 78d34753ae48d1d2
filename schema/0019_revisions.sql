-- In accounts, api_keys, feeds, connections, report_requests, refreshed and
-- attempts, updated_at numbers the changes of a row's key: each is greater than
-- all that are stored before it, whatever the clocks say, and the time of the
-- change where no clock was ahead. A revocation has the greatest number there
-- is, because nothing may follow it.
--
-- Before, updated_at was the clock's alone: a revocation counted for less than
-- what a clock that was ahead had written earlier. Those that are still there
-- get their number here.
INSERT INTO api_keys SELECT * REPLACE (toDateTime64('2262-04-11 23:47:16', 9, 'UTC') AS updated_at)
FROM api_keys WHERE revoked_at IS NOT NULL;

INSERT INTO feeds SELECT * REPLACE (toDateTime64('2262-04-11 23:47:16', 9, 'UTC') AS updated_at)
FROM feeds WHERE revoked_at IS NOT NULL;
