package harness

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"adlens/integration/containers"
)

// stores are what ADLENS_TEST_STORE names: one server, the two shards of a cluster, or the
// three replicas of a shard.
var stores = map[string]func() ([]*containers.ClickHouse, error){
	"container": newServers,
	"cluster":   NewCluster,
	"replicas":  NewReplicas,
}

// Contained reports whether programs keep their data in servers in containers
// instead of in the embedded engine.
func Contained() bool { return stores[os.Getenv("ADLENS_TEST_STORE")] != nil }

// Users of servers in containers, with the rights that the program asks for.
const (
	Writer = "suite_writer"
	Reader = "suite_reader"
)

// everyDatabase begins the name of each program's database: one server has
// those of many.
const everyDatabase = "adlens_"

// store is servers that programs share.
type store struct {
	sync.Mutex
	servers []*containers.ClickHouse
	err     error
}

// shared is the server of all programs that do not kill theirs, sharedShards is
// their cluster.
var shared, sharedShards store

// SharedServer starts the server that programs share, or repeats why it cannot
// be had. Of a cluster it is the first shard.
func SharedServer() (*containers.ClickHouse, error) {
	servers, err := sharedStore()
	if err != nil {
		return nil, err
	}
	return servers[0], nil
}

func sharedStore() ([]*containers.ClickHouse, error) {
	if os.Getenv("ADLENS_TEST_STORE") == "cluster" {
		return SharedCluster()
	}
	return shared.getServers(newStore)
}

// SharedCluster starts the shards that programs share, or repeats why they
// cannot be had.
func SharedCluster() ([]*containers.ClickHouse, error) { return sharedShards.getServers(NewCluster) }

// getServers starts the servers where they were not.
func (s *store) getServers(start func() ([]*containers.ClickHouse, error)) ([]*containers.ClickHouse, error) {
	s.Lock()
	defer s.Unlock()
	if s.servers == nil && s.err == nil {
		s.servers, s.err = start()
	}
	return s.servers, s.err
}

func newStore() ([]*containers.ClickHouse, error) {
	if start := stores[os.Getenv("ADLENS_TEST_STORE")]; start != nil {
		return start()
	}
	return newServers()
}

func newServers() ([]*containers.ClickHouse, error) {
	server, err := NewServer()
	return []*containers.ClickHouse{server}, err
}

// NewCluster starts the two shards of a cluster, each with the users of NewServer.
func NewCluster() ([]*containers.ClickHouse, error) { return NewShards(1, 1) }

// NewReplicas starts the three replicas of a shard, each with the users of NewServer.
func NewReplicas() ([]*containers.ClickHouse, error) { return NewShards(3) }

// NewShards starts a cluster of which each shard has so many replicas.
func NewShards(replicas ...int) ([]*containers.ClickHouse, error) {
	rights, err := printedRights()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return containers.StartShards(ctx, rights, replicas...)
}

// NewServer starts a server with a writer and a reader, who have in all
// databases of tests the rights that the program prints for one.
func NewServer() (*containers.ClickHouse, error) {
	rights, err := printedRights()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
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

// useServers makes the program keep its data in a server, or in the shards of a
// cluster, of which it is told the first.
func (p *Program) useServers(servers []*containers.ClickHouse) error {
	dir, err := filepath.Abs(p.DataDir)
	if err != nil {
		return err
	}
	p.servers = servers
	database := Database(dir)
	p.Settings = append(p.Settings,
		"ADLENS_CLICKHOUSE="+servers[0].Address(Writer, database), "ADLENS_CLICKHOUSE_READER="+servers[0].Address(Reader, database))
	if len(servers) > 1 {
		p.Settings = append(p.Settings, "ADLENS_CLUSTER="+containers.Cluster)
	}
	return nil
}

// NewClustered is New for a program on the shards of a cluster, wherever the
// others are.
func NewClustered(dataDir string, servers []*containers.ClickHouse) (*Program, error) {
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	p := &Program{Bin: bin, DataDir: dataDir}
	return p, p.useServers(servers)
}

// Database is the name of a database in which the writer and the reader have
// their rights: a different one for each text.
func Database(of string) string {
	return fmt.Sprintf("%s%x", everyDatabase, sha256.Sum256([]byte(of)))[:len(everyDatabase)+16]
}

// Database is the database that the program's settings name; "" for the embedded
// engine.
func (p *Program) Database() string {
	for _, setting := range p.Settings {
		if address, ok := strings.CutPrefix(setting, "ADLENS_CLICKHOUSE="); ok {
			parsed, err := url.Parse(address)
			if err == nil {
				return strings.Trim(parsed.Path, "/")
			}
		}
	}
	return ""
}

// NewAt is New for a program whose data are where its settings say, such as
// ADLENS_CLICKHOUSE=ADDRESS.
func NewAt(dataDir string, settings ...string) (*Program, error) {
	bin, err := Binary()
	return &Program{Bin: bin, DataDir: dataDir, Settings: settings}, err
}

// NewAlone is New for a program whose store no other program uses, so that it can be
// killed. Close gives it back.
func NewAlone(dataDir string) (*Program, error) {
	if !Contained() {
		return New(dataDir)
	}
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	servers, err := newStore()
	if err != nil {
		return nil, err
	}
	p := &Program{Bin: bin, DataDir: dataDir, alone: true}
	return p, p.useServers(servers)
}

// Close removes a server that was this program's alone.
func (p *Program) Close() error {
	if !p.alone {
		return nil
	}
	return removeServers(p.servers)
}

// cleanServer removes the shared servers.
func cleanServer() error {
	return errors.Join(shared.removeStore(), sharedShards.removeStore())
}

func (s *store) removeStore() error {
	s.Lock()
	defer s.Unlock()
	return removeServers(s.servers)
}

func removeServers(servers []*containers.ClickHouse) error {
	var all []error
	for _, server := range servers {
		if server != nil {
			all = append(all, server.Remove())
		}
	}
	return errors.Join(all...)
}

// NoContainer says that no container can be had on this machine, which is
// a reason to skip unless ADLENS_TEST_DOCKER=required promises one.
func NoContainer(err error) bool {
	return errors.Is(err, containers.ErrNone) && !containers.Required()
}
