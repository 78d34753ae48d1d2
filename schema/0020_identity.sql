-- Which database this is: number 0 is a random text that it was given when it was
-- first opened (the first of several counts). A database that was emptied, or put
-- in another's place, has another one or none. The first shard of a cluster knows
-- those of the others by their numbers, and the others that of the first (the
-- last of several counts).
CREATE TABLE IF NOT EXISTS identities (
    number UInt16,
    id String,
    made_at DateTime64(9, 'UTC')
) ENGINE = MergeTree
ORDER BY (number, made_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
