-- Rates from files of the European Central Bank are used only where none was loaded
-- by hand, so both may be there for one currency and day. All that was loaded
-- before this step came by hand.
ALTER TABLE rates ADD COLUMN IF NOT EXISTS fetched Bool DEFAULT false;
