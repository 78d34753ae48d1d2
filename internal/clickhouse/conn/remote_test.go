package conn

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestABadAddressIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{
		"clickhouse://user:s3cret@ho st:9000/db", "clickhouse://user:s3cret@host:nine/db", "clickhouse://user:s3cret%zz@host:9000/db",
		"clickhouse://user:s3cret@host:9000/db?dial_timeout=soon", "user:s3cret@host:9000",
	} {
		_, err := NewRemote(RemoteConfig{Address: address})
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
		r, err := NewRemote(RemoteConfig{Address: address})
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

// With what operators set for their own questions, answers would be short or old.
func TestSettingsOfAnAddressChangeNoMeaning(t *testing.T) {
	r, err := NewRemote(RemoteConfig{Address: "clickhouse://u:p@host:9000?max_result_rows=5&result_overflow_mode=break&use_query_cache=1"})
	if err != nil {
		t.Fatal(err)
	}
	target, err := r.Target(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]clickhouse.Settings{"reader": target.Reader.Settings, "writer": target.Writer.Settings} {
		if of["result_overflow_mode"] != "throw" || of["use_query_cache"] != 0 || of["max_result_rows"] == nil {
			t.Errorf("the settings of the %s are %v", name, of)
		}
	}
}

func TestPasswordsAreHiddenWhereverTheyStand(t *testing.T) {
	for _, address := range []string{
		"http://user:s3cret@host:8123/db?secure=true", "clickhouse://host:9000/db?username=u&password=s3cret&dial_timeout=soon",
		"clickhouse://user:s3cret@a,b/db?secure=perhaps", "clickhouse://user:s3cret@with@host:nine/db",
		"clickhouse://user:s3cret?x9@host:9000/db", "https://user:s3cret?@host:9000/db", "clickhouse://user:12345?s3cret@host:9000/db", "clickhouse://user:s3cret?a=b@host:9000/db",
		"clickhouse://user:p@s3cret?x9@host:9000/db", "clickhouse://user:12/s3cret@host:9000/db", "clickhouse://user:12345#s3cret@host/db", "clickhouse://user:12345?a=s3cret@host/db",
		"user:s3cret?x@host:9000/db", "clickhouse:/user:s3cret?x@host:9000/db", "clickhouse//user:s3cret?x9@host:9000/db",
	} {
		if _, err := NewRemote(RemoteConfig{Address: address}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestHTTPSMeansTLS(t *testing.T) {
	for address, secure := range map[string]bool{
		"https://u:p@host:8443/db": true, "https://u:p@host:8443/db?http_proxy=http://a:b@proxy:3128": true, "https://u:p@host:8443/db?skip_verify=true": true, "http://u:p@host:8123/db": false,
		"clickhouse://u:p@host:9440/db?secure=true": true, "clickhouse://u:p@host:9000/db": false,
	} {
		r, err := NewRemote(RemoteConfig{Address: address})
		if err != nil || (r.writer.TLS != nil) != secure || (r.reader.TLS != nil) != secure {
			t.Errorf("%s: TLS %v, expected %v: %v", address, r.writer.TLS != nil, secure, err)
		}
	}
}

// A restart cuts what is under way: between answers, within one, or by a reset.
func TestAServerThatWentAwayIsNamed(t *testing.T) {
	remote, err := NewRemote(RemoteConfig{Address: "clickhouse://u:p@host:9000"})
	if err != nil {
		t.Fatal(err)
	}
	c := &Session{server: NewServer(nil, Checks{})}
	for _, cut := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
		failed := c.handleError(t.Context(), fmt.Errorf("readData: %w", cut))
		text := remote.Explain(failed).Error()
		if want := "the ClickHouse server host:9000 went away while it was asked: is it being restarted? Try again"; text != want {
			t.Errorf("%v: it is reported %q, expected %q", cut, text, want)
		}
	}
}
