package commands_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"adlens/integration/house"
)

// libraryWords are phrases that errors of libraries are known by.
var libraryWords = regexp.MustCompile(`strconv|invalid syntax|invalid argument|unknown (flag|command)|required flag|arg\(s\)|parse "|invalid URL|missing port|` +
	`listen tcp|dial tcp|lookup |cannot parse|json: |invalid character|unmarshal|unexpected end|unrecognized|parsing time|first path segment`)

// Values that commands look into only when they run. What their flags and arguments
// are is tested beside the command line itself (cmd/adlens).
func TestNoValueIsRefusedInALibrarysWords(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	account, text := one.Files.ID, house.Put(t, t.TempDir(), "secrets", []byte("not JSON"))
	house.Need(t, os.Chmod(text, 0o600))
	for _, c := range []struct{ line, want string }{
		{"serve --listen 127.0.0.1", "expected HOST:PORT"},
		{"serve --listen 127.0.0.1:0 --metrics-listen x", `--metrics-listen is "x"; expected HOST:PORT`},
		{"serve --listen " + strings.TrimPrefix(h.Server.Address, "http://"), "is in use, maybe by another adlens serve or adlens demo; stop that one, or choose another address, like --listen 127.0.0.1:"},
		{"serve --listen 127.0.0.1:0 --log-level loud", `--log-level is "loud"; expected debug, info, warn or error`},
		{"serve --listen 127.0.0.1:0 --log-level fatal", `--log-level is "fatal"; expected debug, info, warn or error`},
		{"serve --listen 127.0.0.1:0 --log-level warning", `--log-level is "warning"; expected debug, info, warn or error`},
		{"serve --listen 127.0.0.1:0 --log-level=", `--log-level is ""; expected debug, info, warn or error`},
		{"serve --listen 127.0.0.1:0 --public-url http://[::1", "expected https://host"},
		{"serve --listen 127.0.0.1:0 --redis nonsense", "expected one like redis://"},
		{"serve --listen 127.0.0.1:0 --platform-url http://[::1", "like https://host/path"},
		{"serve --listen 127.0.0.1:0 --rates-url %zz", "expected the daily file's"},
		{"mcp --account " + account + " --figure-memory -1", "--figure-memory -1 is negative; expected bytes, 0 is off"},
		{"app invite --account " + account + " --public-url http://[::1", "expected https://host"},
		{"feed create --account " + account + " --name x --request /summary?%zz", "does not parse; expected name=value pairs"},
		{"feed create --account " + account + " --name x --request nonsense", "expected a path after /api/v1"},
		{"key create --account " + account + " --name x --expires tomorrow", `"tomorrow" is no calendar day of the form YYYY-MM-DD`},
		{"key create --account " + account + " --name x --expires 2026-02-30", "no calendar day"},
		{"key revoke nonsense", `there is no key "nonsense"`},
		{"account add x --name y --subscription gold", "expected one of active, trialing"},
		{"load --account " + account + " --generated-at yesterday " + text, "expected a time with its zone"},
		{"load --account " + account + " --generated-at 2261-11-20T10:24:00Z " + text, "--generated-at is 2261-11-20T10:24:00Z, more than a day in the future"},
		{"connect --account " + account + " --region XX --client-id x", "expected NA, EU or FE"},
		{"connect --account " + account + " --region NA --client-id x --secrets-file " + text, "expected JSON with client_secret and refresh_token"},
		{"backup --to s3:bucket/adlens", "expected s3://bucket/prefix, or ./ before it for a directory"},
		{"restore --from S3:/key:secret@bucket/adlens", `"***@bucket/adlens" is no place of backups`},
		{"backup --to s3://", "expected a directory or s3://bucket/prefix"},
		{"backup --to s3://x/y --s3-endpoint http://[::1", "expected https://HOST or http://HOST:PORT"},
		{"restore --from gs://x", "expected a directory or s3://bucket/prefix"},
		{"account list --clickhouse nonsense", "expected one like clickhouse://"},
		{"account list --clickhouse http://[::1/db", "expected one like clickhouse://"},
		{"account list --clickhouse clickhouse://a:b@host:xyz/db", "expected one like clickhouse://"},
		{"account list --clickhouse clickhouse://127.0.0.1:1/db", "nothing listens there"},
		{"account list --clickhouse clickhouse://no.such.invalid:9000/db", "no address is known"},
	} {
		r := h.Run(strings.Fields(c.line)...)
		if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, c.want) || libraryWords.MatchString(r.Stderr) {
			t.Errorf("adlens %s: want %s, got %s (a library's: %q)", c.line, c.want, r, libraryWords.FindString(r.Stderr))
		}
	}
}
