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

// keeper is a ZooKeeper on this machine, through which replicas know of each other.
type keeper struct {
	address netip.AddrPort // which containers reach
	dir     string
	process *exec.Cmd
	ended   chan error
}

// startKeeper starts a ZooKeeper.
func startKeeper(ctx context.Context) (*keeper, error) {
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
	k := &keeper{address: netip.MustParseAddrPort(l.Addr().String()), ended: make(chan error, 1)}
	l.Close()
	if k.dir, err = os.MkdirTemp("", "adlens-zookeeper-"); err != nil {
		return nil, err
	}
	config := filepath.Join(k.dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPortAddress=%s\nclientPort=%d\nmaxClientCnxns=0\nadmin.enableServer=false\n", filepath.Join(k.dir, "data"), k.address.Addr(), k.address.Port())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	k.process = exec.Command(java, "-Xmx256m", "-Dzookeeper.forceSync=no", "-cp", filepath.Join(zooKeeper, "zookeeper.jar")+":"+zooKeeper+"/*", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	if err := k.process.Start(); err != nil {
		return nil, err
	}
	go func() { k.ended <- k.process.Wait() }()
	return k, k.waitUntilOpen(ctx)
}

// waitUntilOpen waits until the ZooKeeper takes connections.
func (k *keeper) waitUntilOpen(ctx context.Context) error {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp4", k.address.String())
		if err == nil {
			return c.Close()
		}
		select {
		case err := <-k.ended:
			return errors.Join(fmt.Errorf("the process of ZooKeeper has ended: %w", err), os.RemoveAll(k.dir))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), k.stop())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends it and removes its data.
func (k *keeper) stop() error {
	err := k.process.Process.Kill()
	<-k.ended
	return errors.Join(err, os.RemoveAll(k.dir))
}

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
	// A Docker that was just installed does not say it until it is started again.
	bridged, err := net.InterfaceByName(bridge.Network.Options["com.docker.network.bridge.name"])
	if err != nil {
		return netip.Addr{}, err
	}
	addresses, err := bridged.Addrs()
	for _, a := range addresses {
		if prefix, wrong := netip.ParsePrefix(a.String()); wrong == nil && prefix.Addr().Is4() {
			return prefix.Addr(), nil
		}
	}
	return netip.Addr{}, errors.Join(errors.New("the network of Docker has no gateway of IPv4"), err)
}
