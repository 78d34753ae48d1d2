package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"adlens/internal/engine"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// writerSettings make an insert mean what it says: written when it returns,
// never taken for a repetition of another, into as many months as it has.
var writerSettings = clickhouse.Settings{
	"async_insert":                    0,
	"insert_deduplicate":              0,
	"max_partitions_per_insert_block": 0,
	"max_insert_threads":              1,
	"mutations_sync":                  1,
}

// Embedded is the engine of a data directory.
type Embedded struct{ Engine *engine.Engine }

// Target starts the engine where it does not run.
func (e Embedded) Target(ctx context.Context) (Target, error) {
	at, err := e.Engine.Endpoint(ctx)
	if err != nil {
		return Target{}, err
	}
	options := func(user, password string, settings clickhouse.Settings) *clickhouse.Options {
		return &clickhouse.Options{
			Protocol:        clickhouse.HTTP,
			Addr:            []string{at.Address},
			Auth:            clickhouse.Auth{Username: user, Password: password, Database: engine.Database},
			Settings:        settings,
			HttpHeaders:     map[string]string{engine.GateHeader: at.Gate},
			DialTimeout:     dialPatience,
			MaxOpenConns:    64,
			MaxIdleConns:    16,
			ConnMaxLifetime: time.Hour,
		}
	}
	return Target{
		Reader: options(engine.ReaderUser, at.ReaderPassword, nil),
		Writer: options(engine.LoaderUser, at.LoaderPassword, writerSettings),
	}, nil
}

// Marks are files beside the engine: all its users are on this machine.
func (e Embedded) Marks() Marks { return e.Engine.Marks() }

// Remote is an existing server.
type Remote struct {
	options *clickhouse.Options
	shown   string // the address without its password
}

// NewRemote reads the address of a server, clickhouse://user:password@host:9000/database
// or http://user:password@host:8123/database. Without a database it is adlens.
func NewRemote(address string) (Remote, error) {
	options, err := clickhouse.ParseDSN(address)
	if err != nil {
		return Remote{}, fmt.Errorf("%s is no address of a ClickHouse server: %w", redacted(address), err)
	}
	if parsed, err := url.Parse(address); err == nil && (parsed.Path == "" || parsed.Path == "/") {
		options.Auth.Database = engine.Database
	}
	options.DialTimeout = dialPatience
	return Remote{options, redacted(address)}, nil
}

// Explain says in a sentence why the server could not be used.
func (r Remote) Explain(err error) error {
	var exception *clickhouse.Exception
	var network *net.OpError
	switch {
	case errors.As(err, &exception):
		return fmt.Errorf("the ClickHouse server %s refuses: %s (code %d)", r.shown, exception.Message, exception.Code)
	case errors.As(err, &network):
		return fmt.Errorf("the ClickHouse server %s cannot be reached: %w", r.shown, network)
	}
	return err
}

// redacted hides the password of an address, and all before its host where the
// address is too odd to tell what of it is one.
func redacted(address string) string {
	if parsed, err := url.Parse(address); err == nil && parsed.User != nil {
		return parsed.Redacted()
	}
	if _, host, ok := strings.Cut(address, "@"); ok {
		return "***@" + host
	}
	return address
}

// Target returns the server's options for reading and writing.
func (r Remote) Target(context.Context) (Target, error) {
	reader, writer := *r.options, *r.options
	writer.Settings = clickhouse.Settings{}
	for name, value := range r.options.Settings {
		writer.Settings[name] = value
	}
	for name, value := range writerSettings {
		writer.Settings[name] = value
	}
	return Target{Reader: &reader, Writer: &writer}, nil
}

// Marks are missing: any machine may load into the server.
func (r Remote) Marks() Marks { return nil }
