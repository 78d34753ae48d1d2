package containers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// official is the image that is taken where ADLENS_TEST_CLICKHOUSE_IMAGE names
// no other.
const official = "clickhouse/clickhouse-server:26.7"

// Owner is the user of each server who may do all.
const Owner = "owner"

// The server's ports inside its container.
const (
	httpPort   = "8123/tcp"
	nativePort = "9000/tcp"
)

// The longest that a server may take to start, on a machine that is busy.
const startTime = 5 * time.Minute

// Password is that of every user of every server here.
var Password = rand.Text()

// ClickHouse is a server in a container.
type ClickHouse struct {
	HTTP, Native string // host:port; they stay through restarts
	container    *testcontainers.DockerContainer
	replicas     []*ClickHouse // of its shard, if it has several
	keeper       *keeper       // which ends with it
}

// StartClickHouse starts a server with further users, each a name with the
// statements that give it its rights.
func StartClickHouse(ctx context.Context, users map[string][]string) (*ClickHouse, error) {
	all, err := startServers(ctx, 1, func([]*ClickHouse, *ClickHouse) []testcontainers.ContainerFile {
		return []testcontainers.ContainerFile{file("users.d/test.xml", usersFile(users))}
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Cluster is the name of the cluster that StartShards' servers know.
const Cluster = "suite"

// StartShards starts servers that each know all of them as a cluster, of which each shard has
// so many replicas, and returns them in the order of the shards. What replicas know of each
// other is in a ZooKeeper, which is started where a shard has several.
func StartShards(ctx context.Context, users map[string][]string, replicas ...int) ([]*ClickHouse, error) {
	servers, name := 0, "cluster.xml"
	for _, n := range replicas {
		servers += n
		if n > 1 {
			name = "replicas.xml" // from which the image of tests knows that it has to talk to others
		}
	}
	var k *keeper
	if name == "replicas.xml" {
		var err error
		if k, err = startKeeper(ctx); err != nil {
			return nil, err
		}
	}
	all, err := startServers(ctx, servers, func(all []*ClickHouse, one *ClickHouse) []testcontainers.ContainerFile {
		return []testcontainers.ContainerFile{file("users.d/test.xml", usersFile(users)), file("config.d/"+name, clusterFile(divide(all, replicas), one, k))}
	})
	if err != nil {
		if k != nil {
			err = errors.Join(err, k.stop())
		}
		return nil, err
	}
	for _, shard := range divide(all, replicas) {
		for _, c := range shard {
			if len(shard) > 1 {
				c.replicas = shard
			}
		}
	}
	all[0].keeper = k
	return all, nil
}

// divide returns the servers of each shard.
func divide(all []*ClickHouse, replicas []int) (shards [][]*ClickHouse) {
	for _, n := range replicas {
		shards, all = append(shards, all[:n]), all[n:]
	}
	return shards
}

// startServers starts servers with files of their configuration. Docker may have given
// a port that was free to another container meanwhile: then others are picked.
func startServers(ctx context.Context, n int, files func(all []*ClickHouse, one *ClickHouse) []testcontainers.ContainerFile) (all []*ClickHouse, err error) {
	for range 3 {
		all, err = startAtOnce(ctx, n, files)
		if err == nil || !strings.Contains(err.Error(), "port is already allocated") {
			break
		}
	}
	return all, err
}

func startAtOnce(ctx context.Context, n int, files func(all []*ClickHouse, one *ClickHouse) []testcontainers.ContainerFile) ([]*ClickHouse, error) {
	all, err := pickAddresses(n)
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		if err := c.run(ctx, files(all, c)...); err != nil {
			for _, started := range all[:i] {
				err = errors.Join(err, started.Remove())
			}
			return nil, err
		}
	}
	return all, nil
}

// file is one of the server's configuration.
func file(path, text string) testcontainers.ContainerFile {
	return testcontainers.ContainerFile{Reader: strings.NewReader(text), ContainerFilePath: "/etc/clickhouse-server/" + path, FileMode: 0o644}
}

// clusterFile names the servers of each shard, by addresses that this machine knows, and says
// which one a server is. A replica takes its name from its environment, and fetches as many parts
// at once as a server does.
func clusterFile(shards [][]*ClickHouse, one *ClickHouse, keeper *keeper) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<clickhouse><remote_servers><%s>", Cluster)
	own := 0
	for i, replicas := range shards {
		b.WriteString("<shard>")
		for _, c := range replicas {
			at := netip.MustParseAddrPort(c.Native)
			fmt.Fprintf(&b, "<replica><host>%s</host><port>%d</port></replica>", at.Addr(), at.Port())
			if c == one {
				own = i + 1
			}
		}
		b.WriteString("</shard>")
	}
	fmt.Fprintf(&b, "</%s></remote_servers>", Cluster)
	if keeper != nil {
		fmt.Fprintf(&b, `<macros><shard>%d</shard><replica from_env="HOSTNAME"/></macros>`, own)
		fmt.Fprintf(&b, "<zookeeper><node><host>%s</host><port>%d</port></node><session_timeout_ms>6000</session_timeout_ms></zookeeper><background_fetches_pool_size>16</background_fetches_pool_size>", keeper.address.Addr(), keeper.address.Port())
	}
	b.WriteString("</clickhouse>")
	return b.String()
}

// run starts the server with some files of its configuration.
func (c *ClickHouse) run(ctx context.Context, files ...testcontainers.ContainerFile) error {
	image := cmp.Or(os.Getenv("ADLENS_TEST_CLICKHOUSE_IMAGE"), official)
	if err := have(ctx, image); err != nil {
		return err
	}
	var err error
	c.container, err = testcontainers.Run(ctx, image,
		testcontainers.WithEnv(map[string]string{"CLICKHOUSE_USER": Owner, "CLICKHOUSE_PASSWORD": Password}),
		testcontainers.WithExposedPorts(httpPort, nativePort),
		testcontainers.WithHostConfigModifier(func(host *container.HostConfig) {
			host.PortBindings = network.PortMap{network.MustParsePort(httpPort): bound(c.HTTP), network.MustParsePort(nativePort): bound(c.Native)}
		}),
		testcontainers.WithFiles(files...),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/?query=SELECT+1").WithPort(httpPort).WithBasicAuth(Owner, Password).WithStartupTimeout(startTime)),
	)
	if err != nil {
		return errors.Join(err, c.Remove())
	}
	return nil
}

// pickAddresses picks two ports for each of some servers, since those that Docker picks
// change with every restart. They are below those that the system gives to a program that
// asks for any: a container that is killed gets its own again.
func pickAddresses(servers int) (all []*ClickHouse, err error) {
	for range servers {
		c := &ClickHouse{}
		for _, address := range []*string{&c.HTTP, &c.Native} {
			l, err := freeListener()
			if err != nil {
				return nil, err
			}
			defer l.Close() // once all are picked: none is picked twice
			*address = l.Addr().String()
		}
		all = append(all, c)
	}
	return all, nil
}

func freeListener() (l net.Listener, err error) {
	for range 20 {
		if l, err = net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 15_000+mathrand.IntN(15_000))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// bound is a port of this machine that leads to a container's.
func bound(address string) []network.PortBinding {
	at := netip.MustParseAddrPort(address)
	return []network.PortBinding{{HostIP: at.Addr(), HostPort: strconv.Itoa(int(at.Port()))}}
}

// habits are settings of an operator's profile, under which a statement that forgets what
// it needs gives other rows, fewer, or those of a minute ago.
const habits = `<limit>7</limit><offset>1</offset><extremes>1</extremes><final>1</final><use_query_cache>1</use_query_cache>
<read_overflow_mode>break</read_overflow_mode><result_overflow_mode>break</result_overflow_mode><group_by_overflow_mode>any</group_by_overflow_mode>
<aggregate_functions_null_for_empty>1</aggregate_functions_null_for_empty><empty_result_for_aggregation_by_empty_set>1</empty_result_for_aggregation_by_empty_set>
<group_by_use_nulls>1</group_by_use_nulls><join_use_nulls>1</join_use_nulls><transform_null_in>1</transform_null_in><cast_keep_nullable>1</cast_keep_nullable>
<data_type_default_nullable>1</data_type_default_nullable><prefer_column_name_to_alias>1</prefer_column_name_to_alias>
<enable_analyzer>0</enable_analyzer><union_default_mode>DISTINCT</union_default_mode><async_insert>1</async_insert><session_timezone>America/Santiago</session_timezone>`

// Plain is a user with the rights of the one that writes, and a profile without habits:
// tests ask as it, past the program.
const Plain = "plain"

// Bounded is a user with the rights of the one that reads, whom its profile lets no statement
// have more than 30 seconds.
const Bounded = "bounded"

// usersFile has users whose rights are statements.
func usersFile(users map[string][]string) string {
	var b strings.Builder
	add := func(name, profile string, grants []string) {
		fmt.Fprintf(&b, "<%s><password>%s</password><networks><ip>::/0</ip></networks><profile>%s</profile><quota>default</quota><grants>", name, Password, profile)
		for _, grant := range grants {
			fmt.Fprintf(&b, "<query>%s</query>", grant)
		}
		fmt.Fprintf(&b, "</grants></%s>", name)
	}
	b.WriteString("<clickhouse><profiles><writing>" + habits + "</writing><only_reading><readonly>2</readonly>" + habits + "</only_reading>" +
		"<bounded><readonly>2</readonly><constraints><max_execution_time><max>30</max></max_execution_time></constraints></bounded></profiles><users>")
	for name, grants := range users {
		if strings.Contains(name, "reader") {
			add(name, "only_reading", grants)
			add(Bounded, "bounded", grants)
			continue
		}
		add(name, "writing", grants)
		add(Plain, "default", grants)
	}
	b.WriteString("</users></clickhouse>")
	return b.String()
}

// Address is the address of a database for a user, over the native protocol. That of a
// replica leads to all of its shard.
func (c *ClickHouse) Address(user, database string) string {
	hosts := []string{c.Native}
	if c.replicas != nil {
		hosts = nil
		for _, replica := range c.replicas {
			hosts = append(hosts, replica.Native)
		}
	}
	return (&url.URL{Scheme: "clickhouse", User: url.UserPassword(user, Password), Host: strings.Join(hosts, ","), Path: "/" + database}).String()
}

// Kill ends the server in the middle of whatever it does.
func (c *ClickHouse) Kill(ctx context.Context) error {
	docker, err := api()
	if err != nil {
		return err
	}
	_, err = docker.ContainerKill(ctx, c.container.GetContainerID(), client.ContainerKillOptions{})
	return err
}

// Stop ends the server cleanly.
func (c *ClickHouse) Stop(ctx context.Context) error {
	patience := 15 * time.Second
	return c.container.Stop(ctx, &patience)
}

// Start starts a server that ended, and waits until it answers.
func (c *ClickHouse) Start(ctx context.Context) error { return c.container.Start(ctx) }

// pauseTries bounds the attempts to pause a container.
const pauseTries = 20

// Pause makes the server hang, with all its connections, until it is let go on.
func (c *ClickHouse) Pause(ctx context.Context) (goOn func() error, err error) {
	docker, err := api()
	if err != nil {
		return nil, err
	}
	id := c.container.GetContainerID()
	for range pauseTries {
		// A busy machine may not get all of its threads to stand still at once.
		if _, err = docker.ContainerPause(ctx, id, client.ContainerPauseOptions{}); err == nil {
			break
		}
	}
	return func() error {
		_, err := docker.ContainerUnpause(context.Background(), id, client.ContainerUnpauseOptions{})
		return err
	}, err
}

// Remove ends the server and removes its container with its data.
func (c *ClickHouse) Remove() error {
	var err error
	if c.keeper != nil {
		err = c.keeper.stop()
	}
	if c.container == nil {
		return err
	}
	return errors.Join(err, testcontainers.TerminateContainer(c.container))
}
