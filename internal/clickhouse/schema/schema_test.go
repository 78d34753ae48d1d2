package schema

import (
	"strings"
	"testing"

	"adlens/internal/clickhouse/conn"
	steps "adlens/schema"
)

func TestTablesOfSeveralReplicasAreReplicated(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"x) ENGINE = MergeTree\nORDER BY a\nSETTINGS b = 1":     "x) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')\nORDER BY a\nSETTINGS remove_empty_parts = 0, b = 1",
		") ENGINE = ReplacingMergeTree(updated_at)\nORDER BY a": ") ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', updated_at)\nORDER BY a\nSETTINGS remove_empty_parts = 0",
		"ALTER TABLE a ADD COLUMN b UInt8":                      "ALTER TABLE a ADD COLUMN b UInt8",
	} {
		if got := replicate(statement); got != want {
			t.Errorf("%s\nbecomes %s\nwant %s", statement, got, want)
		}
	}
	all, err := steps.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range all {
		for _, statement := range step.Statements {
			if made := replicate(statement); strings.Count(made, "ENGINE = Replicated") != strings.Count(statement, "CREATE TABLE") || strings.Count(made, "\nSETTINGS remove_empty_parts = 0") != strings.Count(statement, "CREATE TABLE") {
				t.Errorf("schema/%s becomes %s", step.Name, made)
			}
		}
	}
}

// ClickHouse keeps the settings of a table for each replica by itself.
func TestEachReplicaTakesTablesAndTheirSettings(t *testing.T) {
	t.Parallel()
	all, err := steps.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	settings := 0
	for _, step := range all {
		for _, statement := range step.Statements {
			sets := strings.Contains(statement, "MODIFY SETTING")
			if want := sets || strings.Contains(statement, "CREATE TABLE"); isLocal.MatchString(statement) != want {
				t.Errorf("schema/%s: taken by each replica is %t, expected %t: %s", step.Name, !want, want, statement)
			}
			if sets {
				settings++
			}
		}
	}
	if settings == 0 {
		t.Error("no step sets anything")
	}
}

func TestAnOlderServerIsRefusedByItsVersion(t *testing.T) {
	for _, has := range []string{"25.8.1.5101", "25.10.2.65", "26.1.1.1"} {
		if err := compareVersion(has, oldest); err != nil {
			t.Errorf("%s: %v", has, err)
		}
	}
	err := compareVersion("25.8.1.5101", version{25, 9})
	remote, addressing := conn.NewRemote(conn.RemoteConfig{Address: "clickhouse://u:p@host:9000"})
	if addressing != nil {
		t.Fatal(addressing)
	}
	if text := remote.Explain(err).Error(); text != "the ClickHouse server host:9000 is version 25.8.1.5101; expected 25.9 or a later one" {
		t.Errorf("an older server is explained as %q", text)
	}
}

func TestGrantsNameEveryUserAndNoPassword(t *testing.T) {
	statements := strings.Join(Grants("figures", User{"loading", "s3cret-one"}, User{"odd name", "s3cret-two"}), ";\n")
	for _, want := range []string{
		"CREATE USER IF NOT EXISTS loading IDENTIFIED WITH sha256_hash BY '", "SETTINGS readonly = 2",
		"GRANT SELECT ON figures.* TO `odd name`", "CREATE TABLE", " ON figures.* TO loading",
	} {
		if !strings.Contains(statements, want) {
			t.Errorf("%q is missing in\n%s", want, statements)
		}
	}
	if strings.Contains(statements, "s3cret") {
		t.Errorf("a password is in\n%s", statements)
	}
}
