-- What a key may be narrowed by. marketplaces are country codes and marketplace ids
-- of the account's, all others are unknown to the key; none means all. The limits
-- are requests in any 60 seconds and on a day of UTC, within the account's; 0 is
-- none of its own. successor is the key that replaces this one, by its key_id, which
-- ends at expires_at then; '' for none.
ALTER TABLE api_keys
    ADD COLUMN IF NOT EXISTS marketplaces Array(String),
    ADD COLUMN IF NOT EXISTS limit_minute UInt32,
    ADD COLUMN IF NOT EXISTS limit_day UInt32,
    ADD COLUMN IF NOT EXISTS successor String;

-- A feed link has the marketplaces of the key that made it.
ALTER TABLE feeds ADD COLUMN IF NOT EXISTS marketplaces Array(String);

-- A row with a key_id counts the requests of one key that has a limit of a day of
-- its own. They are counted in the row of the account, where key_id is '', too.
ALTER TABLE day_uses
    ADD COLUMN IF NOT EXISTS key_id String,
    MODIFY ORDER BY (day, account_id, server, key_id);
