package harness

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adlens/integration/containers"
)

// Contained tells whether programs keep their data in a server in a container,
// as ADLENS_TEST_STORE=container has it, instead of in the embedded engine.
func Contained() bool { return os.Getenv("ADLENS_TEST_STORE") == "container" }

// Users of servers in containers, with the rights that the program asks for.
const (
	Writer = "suite_writer"
	Reader = "suite_reader"
)

// everyDatabase begins the name of each program's database: one server has
// those of many.
const everyDatabase = "adlens_"

// serverTime is how long a server may take to start, its image to be fetched
// included.
const serverTime = 5 * time.Minute

// shared is the server of all programs that do not kill theirs.
var shared struct {
	sync.Mutex
	server *containers.ClickHouse
	err    error
}

// SharedServer starts the server that programs share, or repeats why it cannot
// be had.
func SharedServer() (*containers.ClickHouse, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = NewServer()
	}
	return shared.server, shared.err
}

// NewServer starts a server with a writer and a reader, who have in all
// databases of tests the rights that the program prints for one.
func NewServer() (*containers.ClickHouse, error) {
	rights, err := printedRights()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), serverTime)
	defer cancel()
	return containers.StartClickHouse(ctx, rights)
}

// printedRights are the grants of `adlens grants` by user, widened to all
// databases of tests.
func printedRights() (map[string][]string, error) {
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	p := Program{Bin: bin, DataDir: os.TempDir()}
	r := p.Run("grants", "--json", "--database", everyDatabase+"any", "--writer", Writer, "--reader", Reader)
	var printed struct{ Statements []string }
	if err := json.Unmarshal([]byte(r.Stdout), &printed); err != nil {
		return nil, fmt.Errorf("grants: %w: %s", err, r)
	}
	rights := map[string][]string{}
	for _, statement := range printed.Statements {
		if grant, user, ok := strings.Cut(statement, " TO "); ok && strings.HasPrefix(grant, "GRANT ") {
			rights[user] = append(rights[user], strings.ReplaceAll(grant, everyDatabase+"any.*", everyDatabase+"*.*"))
		}
	}
	if len(rights[Writer]) == 0 || len(rights[Reader]) == 0 {
		return nil, fmt.Errorf("grants prints no rights for %s and %s: %s", Writer, Reader, r)
	}
	return rights, nil
}

// use makes the program keep its data in a server.
func (p *Program) use(server *containers.ClickHouse) error {
	dir, err := filepath.Abs(p.DataDir)
	if err != nil {
		return err
	}
	p.server = server
	database := Database(dir)
	p.Settings = append(p.Settings,
		"ADLENS_CLICKHOUSE="+server.Address(Writer, database), "ADLENS_CLICKHOUSE_READER="+server.Address(Reader, database))
	return nil
}

// Database is the name of a database in which the writer and the reader have
// their rights: a different one for each text.
func Database(of string) string {
	return fmt.Sprintf("%s%x", everyDatabase, sha256.Sum256([]byte(of)))[:len(everyDatabase)+16]
}

// NewAt is New for a program whose data are where its settings say, such as
// ADLENS_CLICKHOUSE=ADDRESS.
func NewAt(dataDir string, settings ...string) (*Program, error) {
	bin, err := Binary()
	return &Program{Bin: bin, DataDir: dataDir, Settings: settings}, err
}

// NewAlone is New for a program whose store nobody else uses, so that it can be
// killed. Close gives it back.
func NewAlone(dataDir string) (*Program, error) {
	if !Contained() {
		return New(dataDir)
	}
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	server, err := NewServer()
	if err != nil {
		return nil, err
	}
	p := &Program{Bin: bin, DataDir: dataDir, alone: true}
	return p, p.use(server)
}

// Close removes a server that was this program's alone.
func (p *Program) Close() error {
	if !p.alone {
		return nil
	}
	return p.server.Remove()
}

// cleanServer removes the shared server.
func cleanServer() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	return shared.server.Remove()
}

// NoContainer says that no container can be had on this machine, which is
// a reason to skip unless ADLENS_TEST_DOCKER=required promises one.
func NoContainer(err error) bool {
	return errors.Is(err, containers.ErrNone) && !containers.Required()
}
