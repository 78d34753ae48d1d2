-- The newest name that each marketplace gave, and when: ids of campaigns and ad groups are
-- unique in a profile alone. 0 is a marketplace that is not known. They are empty where the
-- row's own name and named_at, which are the newest of all, are from before this step.
ALTER TABLE entities
    ADD COLUMN IF NOT EXISTS marketplace_keys Array(UInt16),
    ADD COLUMN IF NOT EXISTS marketplace_names Array(String),
    ADD COLUMN IF NOT EXISTS marketplace_times Array(DateTime64(9, 'UTC'));
