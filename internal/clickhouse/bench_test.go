package clickhouse

import (
	"fmt"
	"testing"

	"adlens/internal/clickhouse/conn"
)

// scratch makes an empty table like facts, with some settings of its own.
func scratch(b *testing.B, db *Database, name, settings string) {
	b.Helper()
	run := func(sql string) {
		if err := db.Cluster.Exec(b.Context(), sql, nil); err != nil {
			b.Fatal(err)
		}
	}
	run("DROP TABLE IF EXISTS " + name)
	run("CREATE TABLE " + name + " AS facts")
	if settings != "" {
		run("ALTER TABLE " + name + " MODIFY SETTING " + settings)
	}
}

// someFacts inserts 100,000 rows, so many for each day from a first one on.
const someFacts = `INSERT INTO %s (account_id, generation, day, product_key, marketplace_key, ad_product, impressions, clicks, purchases, spend, sales, spend_local, sales_local)
SELECT 'a', {generation:UInt32}, toDate('2025-01-02') + intDiv(number, %d), number %% 2000, 1, 1, rand() %% 20000, rand(1) %% 60, rand(2) %% 5,
    rand(3) %% 2000, rand(4) %% 2000, rand(3) %% 2000, rand(4) %% 2000
FROM numbers(100000)`

// What a block of facts costs as wide and as compact parts, synced and not.
func BenchmarkNewParts(b *testing.B) {
	d := openShared(b)
	for name, settings := range map[string]string{
		"wide": "min_bytes_for_wide_part = 10485760", "compact": "",
		"wide, not synced":    "min_bytes_for_wide_part = 10485760, fsync_after_insert = 0, fsync_part_directory = 0",
		"compact, not synced": "fsync_after_insert = 0, fsync_part_directory = 0",
	} {
		b.Run(name, func(b *testing.B) {
			scratch(b, d.Database, "bench_parts", settings)
			for b.Loop() {
				if err := d.Cluster.Exec(b.Context(), fmt.Sprintf(someFacts, "bench_parts", 2000), conn.Params{"generation": "1"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a deletion of nothing costs in a table of some thirty parts, when it is
// waited for and when it is not.
func BenchmarkDeletion(b *testing.B) {
	d := openShared(b)
	for _, way := range []struct{ name, sql string }{
		{"lightweight, waited for", "DELETE FROM bench_deletion WHERE account_id = 'a' AND generation = 9"},
		{"lightweight, one partition, waited for", "DELETE FROM bench_deletion IN PARTITION 202501 WHERE account_id = 'a' AND generation = 9"},
		{"mutation, waited for", "ALTER TABLE bench_deletion DELETE WHERE account_id = 'a' AND generation = 9 SETTINGS mutations_sync = 2"},
		{"mutation, not waited for", "ALTER TABLE bench_deletion DELETE WHERE account_id = 'a' AND generation = 9 SETTINGS mutations_sync = 0"},
	} {
		b.Run(way.name, func(b *testing.B) {
			scratch(b, d.Database, "bench_deletion", "")
			for i := range 2 {
				if err := d.Cluster.Exec(b.Context(), fmt.Sprintf(someFacts, "bench_deletion", 220), conn.Params{"generation": conn.Number(uint32(i))}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := d.Cluster.Exec(b.Context(), way.sql, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
