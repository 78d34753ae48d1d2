-- Several connections of an account, each with a name. Rows from before this step
-- have '' there, and are read as the connection that is named by its region; a
-- later row with that name replaces them.
--
-- profiles are those that belong to the connection; chosen_profiles or
-- chosen_countries say which were chosen, where any were; untaken are listed by
-- the platform since and were not taken. A connection that was removed keeps its
-- row, without its credentials.
ALTER TABLE connections
    ADD COLUMN IF NOT EXISTS name String,
    MODIFY ORDER BY (account_id, name);

ALTER TABLE connections
    ADD COLUMN IF NOT EXISTS profiles Array(String),
    ADD COLUMN IF NOT EXISTS chosen_profiles Array(String),
    ADD COLUMN IF NOT EXISTS chosen_countries Array(String),
    ADD COLUMN IF NOT EXISTS untaken Array(String),
    ADD COLUMN IF NOT EXISTS removed Bool;
