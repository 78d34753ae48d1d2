-- A random number of the commit that wrote the generation; later ones that name the same
-- generation again keep it. 0 of what was loaded before this step. Generations and numbers
-- of commits come a second time where a copy of the disk was put back, origins do not:
-- backups tell rows by them.
ALTER TABLE commit_units ADD COLUMN IF NOT EXISTS origin UInt64;
