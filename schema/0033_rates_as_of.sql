-- A later file of the European Central Bank corrects days of earlier ones, and an earlier
-- file takes nothing back: of a fetched rate, the newest day of the file that it is from.
ALTER TABLE rates ADD COLUMN IF NOT EXISTS as_of Date DEFAULT 0;
