-- 1 for a campaign of Sponsored Brands whose list says isMultiAdGroupsEnabled =
-- false: the platform's reports leave it out. 0 also where that is not known, as of
-- lists of before this step and of exports.
ALTER TABLE campaigns ADD COLUMN IF NOT EXISTS legacy UInt8 CODEC(ZSTD(1));
