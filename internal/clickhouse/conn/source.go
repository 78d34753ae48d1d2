package conn

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	"adlens/internal/engine"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Target is a server and its two users. For a server that is not ours they
// may be one.
type Target struct {
	Reader, Writer *clickhouse.Options
	// Dials counts the connections that come about with them; nil where a server that was
	// restarted lets no old connection in, so that each session is one incarnation's.
	Dials *atomic.Uint64
}

// Source finds the server. It is asked at the start, and again whenever the
// server could not be reached: an embedded engine that died is restarted, and
// answers elsewhere.
type Source interface {
	Target(ctx context.Context) (Target, error)
	// Marks are the marks of accounts, nil where there are none: where other
	// machines may change them.
	Marks() Marks
}

// Marks show whether an account, or the directory of all, may have changed since it was
// read. A change of what is visible of it is announced here.
type Marks interface {
	// Read returns a mark that stays the same while nothing changes; settled
	// is false where nothing follows from it.
	Read(of string) (mark uint64, settled bool)
	// Change announces a change; settle says that it is visible.
	Change(of string) (settle func() error, err error)
}

// Directory is what the mark of the directory is of. No account has a name like it.
const Directory = "/directory"

// Announce changes what is visible of an account or of the directory, telling the
// readers in all processes.
func (s *Server) Announce(of string, change func() error) error {
	marks := s.source.Marks()
	if marks == nil {
		return change()
	}
	settle, err := marks.Change(of)
	if err != nil {
		return err
	}
	// After an error it is not known what became of the insert, and a mark that
	// cannot be set says the same: the change stays under way for readers,
	// who then ask each time.
	if err := change(); err != nil {
		return err
	}
	return settle()
}

// Mark is the mark of an account or of the directory; settled is false where nothing
// follows from it.
func (s *Server) Mark(of string) (mark uint64, settled bool) {
	marks := s.source.Marks()
	if marks == nil {
		return 0, false
	}
	return marks.Read(of)
}

// DialPatience is how long a connection may take to come about.
const DialPatience = 5 * time.Second

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
	return Target{
		Reader: embeddedOptions(at, engine.ReaderUser, at.ReaderPassword, nil),
		Writer: embeddedOptions(at, engine.LoaderUser, at.LoaderPassword, writerSettings),
	}, nil
}

func embeddedOptions(at engine.Endpoint, user, password string, settings clickhouse.Settings) *clickhouse.Options {
	return &clickhouse.Options{
		Protocol:        clickhouse.HTTP,
		Addr:            []string{at.Address},
		Auth:            clickhouse.Auth{Username: user, Password: password, Database: engine.Database},
		Settings:        settings,
		HttpHeaders:     map[string]string{engine.GateHeader: at.Gate},
		DialTimeout:     DialPatience,
		MaxOpenConns:    64,
		MaxIdleConns:    16,
		ConnMaxLifetime: time.Hour,
		TransportFunc:   engine.CloseRefused,
	}
}

// Memory is a file in the data directory.
func (e Embedded) Memory() Memory {
	return Memory{filepath.Join(e.Engine.DataDir(), MemoryFile), "embedded engine"}
}

// Marks are files beside the engine: all its users are on this machine.
func (e Embedded) Marks() Marks { return e.Engine.Marks() }
