package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"adlens/internal/engine"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// RemoteConfig says how to reach a server that is not ours. Addresses are like
// clickhouse://user:password@host:9000/database?secure=true (the native
// protocol) or https://user:password@host:8443/database. Several hosts have
// commas between them: ways to one server, tried in this order.
type RemoteConfig struct {
	Address string
	Reader  string // address for all that only reads; Address where empty
	DataDir string // where it is noted which database this is, where that is there; "" for nowhere
	CAFile  string // authorities that may have signed the server's certificate, in PEM; the system's where empty
}

// Remote is an existing server and its users.
type Remote struct {
	reader, writer *clickhouse.Options
	doors          *doors
	replicated     bool // its hosts are the replicas of a shard
	memory         Memory
}

// NewRemote reads the addresses of a server. Without a database it is adlens.
func NewRemote(config RemoteConfig) (Remote, error) {
	writer, err := readAddress(config.Address, config.CAFile)
	if err != nil {
		return Remote{}, err
	}
	reader := *writer
	if config.Reader != "" {
		given, err := readAddress(config.Reader, config.CAFile)
		if err != nil {
			return Remote{}, err
		}
		reader = *given
	}
	if reader.Auth.Database != writer.Auth.Database {
		return Remote{}, fmt.Errorf("the reader's address names database %q, the other %q; expected one database", reader.Auth.Database, writer.Auth.Database)
	}
	reader.Settings = mergeSettings(reader.Settings, plainSettings, readerSettings)
	writer.Settings = mergeSettings(writer.Settings, plainSettings, writerSettings)
	r := Remote{reader: &reader, writer: writer, doors: &doors{}}
	if config.DataDir != "" {
		r.memory = Memory{filepath.Join(config.DataDir, MemoryFile), strings.Join(writer.Addr, ",") + "/" + writer.Auth.Database}
	}
	return r, nil
}

// Database is the database that the addresses name.
func (r Remote) Database() string { return r.writer.Auth.Database }

// readerSettings may be set by a user who has readonly = 2. Deadlines travel
// with each statement. What a server counted while it ran one, which it sends
// over the native protocol unless told otherwise, is not read here, and
// takes longer than a small statement itself.
var readerSettings = clickhouse.Settings{"cancel_http_readonly_queries_on_client_close": 1, "send_profile_events": 0}

// plainSettings let a statement mean what it says, whatever the profile of a server's user
// has: all of its rows, as they are now, or an error where a bound is reached; and null
// and nothing as the server has them by itself.
var plainSettings = clickhouse.Settings{
	"limit": 0, "offset": 0, "extremes": 0, "final": 0, "use_query_cache": 0,
	"read_overflow_mode": "throw", "read_overflow_mode_leaf": "throw", "result_overflow_mode": "throw",
	"group_by_overflow_mode": "throw", "sort_overflow_mode": "throw", "distinct_overflow_mode": "throw",
	"set_overflow_mode": "throw", "join_overflow_mode": "throw", "transfer_overflow_mode": "throw",
	"timeout_overflow_mode": "throw", "timeout_overflow_mode_leaf": "throw",
	"aggregate_functions_null_for_empty": 0, "empty_result_for_aggregation_by_empty_set": 0,
	"group_by_use_nulls": 0, "join_use_nulls": 0, "transform_null_in": 0, "cast_keep_nullable": 0,
	"data_type_default_nullable": 0, "prefer_column_name_to_alias": 0, "session_timezone": "", "enable_analyzer": 1,
}

func mergeSettings(all ...clickhouse.Settings) clickhouse.Settings {
	merged := clickhouse.Settings{}
	for _, settings := range all {
		maps.Copy(merged, settings)
	}
	return merged
}

func readAddress(address, caFile string) (*clickhouse.Options, error) {
	options, err := clickhouse.ParseDSN(withTLS(address))
	if err != nil || isCutInPassword(address) {
		// What the driver says may hold the whole address.
		return nil, fmt.Errorf("%s is no address of a ClickHouse server; expected one like clickhouse://user:password@host:9000/database or https://user:password@host:8443/database, in whose user and password all but letters and digits is written like %%3F for ?", hidePassword(address))
	}
	if options.Auth.Database == "" {
		options.Auth.Database = engine.Database
	}
	if err := trustAuthorities(options, caFile); err != nil {
		return nil, err
	}
	options.DialTimeout = DialPatience
	options.MaxOpenConns, options.MaxIdleConns, options.ConnMaxLifetime = 64, 16, time.Hour
	return options, nil
}

// withTLS says twice what https means: the driver wants to be told.
func withTLS(address string) string {
	if !strings.HasPrefix(address, "https://") || strings.Contains(address, "secure=") {
		return address
	}
	if strings.Contains(address, "?") {
		return address + "&secure=true"
	}
	return address + "?secure=true"
}

// trustAuthorities takes a file's authorities instead of the system's.
func trustAuthorities(options *clickhouse.Options, caFile string) error {
	if caFile == "" {
		return nil
	}
	if options.TLS == nil {
		return fmt.Errorf("--clickhouse-ca %s is of use with TLS alone; expected secure=true or https:// in the address", caFile)
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return fmt.Errorf("--clickhouse-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("--clickhouse-ca %s has no certificate in PEM", caFile)
	}
	secure := options.TLS.Clone()
	secure.RootCAs, secure.MinVersion = pool, tls.VersionTLS12
	options.TLS = secure
	return nil
}

// hidePassword hides the password of an address, and all before its host where the
// address is too odd to tell what of it is one.
func hidePassword(address string) string {
	if isCutInPassword(address) {
		return "***"
	}
	address, _, _ = strings.Cut(address, "?") // a password may be there too
	if parsed, err := url.Parse(address); err == nil && parsed.User != nil {
		return parsed.Redacted()
	}
	if at := strings.LastIndex(address, "@"); at >= 0 {
		return "***" + address[at:]
	}
	return address
}

// isCutInPassword reports whether a / ? or # of the password ends what is read as the
// host: an @ comes after it.
func isCutInPassword(address string) bool {
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	before, query, _ := strings.Cut(address, "?")
	_, path, _ := strings.Cut(before, "/")
	return strings.Contains(path, "@") || strings.Contains(before, "#") || slices.ContainsFunc(strings.Split(query, "&"), func(part string) bool {
		name, value, _ := strings.Cut(part, "=")
		return strings.Contains(name, "@") || strings.Contains(value, "@") && !slices.Contains([]string{"username", "password", "http_proxy"}, name)
	})
}

// Target returns the server's options for reading and writing.
func (r Remote) Target(ctx context.Context) (Target, error) {
	reader, writer := *r.reader, *r.writer
	target := Target{Reader: &reader, Writer: &writer, Dials: &atomic.Uint64{}}
	if r.replicated { // each has a database of its own
		host, err := r.pickReplica(ctx)
		if err != nil {
			return Target{}, err
		}
		reader.Addr, writer.Addr = []string{host}, []string{host}
	}
	for _, options := range []*clickhouse.Options{&reader, &writer} {
		if !r.replicated {
			open, err := r.doors.findOpen(ctx, options)
			if err != nil {
				return Target{}, err
			}
			options.Addr = open
		}
	}
	countDials(&reader, target.Dials, machinePatience)
	countDials(&writer, target.Dials, blockPatience)
	return target, nil
}

// Memory is in the data directory of the machine that asks.
func (r Remote) Memory() Memory { return r.memory }

// Marks are missing: any machine may load into the server.
func (r Remote) Marks() Marks { return nil }
