-- What step 12 set reached one replica of a shard alone: ClickHouse does not replicate
-- settings. On the others a note of a dead generation was not synced.
ALTER TABLE dead_generations MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

ALTER TABLE facts MODIFY SETTING min_bytes_for_wide_part = 134217728;
