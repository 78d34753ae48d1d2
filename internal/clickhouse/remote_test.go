package clickhouse

import (
	"strings"
	"testing"
)

func TestABadAddressIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{
		"clickhouse://user:s3cret@ho st:9000/db", "clickhouse://user:s3cret@host:nine/db", "clickhouse://user:s3cret%zz@host:9000/db",
		"clickhouse://user:s3cret@host:9000/db?dial_timeout=soon", "user:s3cret@host:9000",
	} {
		_, err := NewRemote(address)
		if err == nil {
			t.Logf("%s is taken", address)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

func TestAnAddressWithoutADatabaseMeansOurs(t *testing.T) {
	for address, want := range map[string]string{
		"clickhouse://u:p@host:9000": "adlens", "clickhouse://u:p@host:9000/": "adlens", "http://u:p@host:8123/other": "other",
	} {
		r, err := NewRemote(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		target, err := r.Target(t.Context())
		if err != nil || target.Reader.Auth.Database != want || target.Writer.Auth.Database != want {
			t.Errorf("%s leads to database %q: %v", address, target.Reader.Auth.Database, err)
		}
		if target.Writer.Settings["insert_deduplicate"] != 0 || target.Reader.Settings["insert_deduplicate"] != nil {
			t.Errorf("%s: the writer's settings are %v, the reader's %v", address, target.Writer.Settings, target.Reader.Settings)
		}
	}
}
