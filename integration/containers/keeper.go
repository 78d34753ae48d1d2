package containers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/moby/moby/client"
)

// zooKeeper is where Debian's package has the jars of ZooKeeper and of what it needs.
const zooKeeper = "/usr/share/java"

// Keeper is a ZooKeeper on this machine, through which replicas know of each other.
type Keeper struct {
	Address netip.AddrPort // which containers reach
	process *exec.Cmd
	ended   chan error
}

// StartKeeper starts a ZooKeeper with its data in a directory.
func StartKeeper(ctx context.Context, dir string) (*Keeper, error) {
	java, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(filepath.Join(zooKeeper, "zookeeper.jar"))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: ZooKeeper: %w", ErrNone, err)
	}
	gateway, err := findGateway(ctx)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", netip.AddrPortFrom(gateway, 0).String())
	if err != nil {
		return nil, err
	}
	k := &Keeper{Address: netip.MustParseAddrPort(l.Addr().String()), ended: make(chan error, 1)}
	l.Close()
	config := filepath.Join(dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPortAddress=%s\nclientPort=%d\nmaxClientCnxns=0\nadmin.enableServer=false\n", filepath.Join(dir, "data"), k.Address.Addr(), k.Address.Port())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	k.process = exec.Command(java, "-Xmx256m", "-cp", filepath.Join(zooKeeper, "zookeeper.jar")+":"+zooKeeper+"/*", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	if err := k.process.Start(); err != nil {
		return nil, err
	}
	go func() { k.ended <- k.process.Wait() }()
	return k, k.await(ctx)
}

// await waits until the ZooKeeper takes connections.
func (k *Keeper) await(ctx context.Context) error {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp4", k.Address.String())
		if err == nil {
			return c.Close()
		}
		select {
		case err := <-k.ended:
			return fmt.Errorf("ZooKeeper has ended: %w", err)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), k.Stop())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends it.
func (k *Keeper) Stop() error { return k.process.Process.Kill() }

// findGateway returns this machine's address in the network of the containers.
func findGateway(ctx context.Context) (netip.Addr, error) {
	docker, err := api()
	if err != nil {
		return netip.Addr{}, err
	}
	bridge, err := docker.NetworkInspect(ctx, "bridge", client.NetworkInspectOptions{})
	if err != nil {
		return netip.Addr{}, err
	}
	for _, c := range bridge.Network.IPAM.Config {
		if c.Gateway.Is4() {
			return c.Gateway, nil
		}
	}
	return netip.Addr{}, errors.New("Docker's network has no gateway of IPv4")
}
