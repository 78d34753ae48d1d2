package clickhouse

import (
	"strings"
	"testing"

	"adlens/schema"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestTablesOfSeveralReplicasAreReplicated(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"x) ENGINE = MergeTree\nORDER BY a":                     "x) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')\nORDER BY a",
		") ENGINE = ReplacingMergeTree(updated_at)\nORDER BY a": ") ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', updated_at)\nORDER BY a",
		"ALTER TABLE a ADD COLUMN b UInt8":                      "ALTER TABLE a ADD COLUMN b UInt8",
	} {
		if got := replicating(statement); got != want {
			t.Errorf("%s\nbecomes %s\nwant %s", statement, got, want)
		}
	}
	steps, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		for _, statement := range step.Statements {
			if made := replicating(statement); strings.Contains(statement, "CREATE TABLE") != strings.Contains(made, "ENGINE = Replicated") {
				t.Errorf("schema/%s becomes %s", step.Name, made)
			}
		}
	}
}

func TestReplicasWaitForEachOther(t *testing.T) {
	t.Parallel()
	r, err := NewRemote(RemoteConfig{Address: "clickhouse://user:password@any:9000/adlens"})
	if err != nil {
		t.Fatal(err)
	}
	shard := r.at()
	shard.add("one:9000")
	if shard.replicated || shard.writer.Settings["insert_quorum"] != nil {
		t.Errorf("a shard of one server is taken for replicas: %v", shard.writer.Settings)
	}
	shard.add("two:9000")
	for name, settings := range map[string]clickhouse.Settings{"reader": shard.reader.Settings, "writer": shard.writer.Settings} {
		if settings["select_sequential_consistency"] != 1 {
			t.Errorf("the %s may be answered by a replica that is behind: %v", name, settings)
		}
	}
	if s := shard.writer.Settings; s["insert_quorum"] != "auto" || s["insert_quorum_parallel"] != 0 || s["async_insert"] != 0 {
		t.Errorf("inserts return before most replicas have them: %v", s)
	}
	if all := shard.replicas(); len(all) != 2 || all[1].writer.Addr[0] != "two:9000" || len(all[1].writer.Addr) != 1 || !all[1].replicated {
		t.Errorf("the replicas one by one are %v", all)
	}
}
