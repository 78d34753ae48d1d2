-- The marketplace that gave the name, one row for each that did: ids of campaigns and ad
-- groups are unique in a profile alone. 0 of names from before this step, and where no name
-- is known.
ALTER TABLE entities
    ADD COLUMN IF NOT EXISTS marketplace_key UInt16,
    MODIFY ORDER BY (account_id, generation, entity_key, marketplace_key);
