package oauth

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// special are the prefixes of IANA's registries of special-purpose addresses that
// are, or may lead to, no host of the public internet. Of version 6 only
// 2000::/3 is public, so that the prefixes of mapped, translated (64:ff9b::/96),
// unique local, link-local and multicast addresses need no mention.
var special = parsePrefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

var publicV6 = netip.MustParsePrefix("2000::/3")

func parsePrefixes(texts ...string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range texts {
		prefixes = append(prefixes, netip.MustParsePrefix(text))
	}
	return prefixes
}

// isPublic reports whether an address is that of a host on the public internet.
func isPublic(address netip.Addr) bool {
	if !address.IsValid() || address.Is6() && !publicV6.Contains(address) { // which addresses with a zone, and mapped ones, are not in
		return false
	}
	for _, prefix := range special {
		if prefix.Contains(address) {
			return false
		}
	}
	return true
}

// addressError reports a host that is not public.
type addressError struct{}

func (*addressError) Error() string { return "its host is not on the public internet" }

// publicDialer connects to hosts of the public internet only. It resolves a name
// once, checks every address, and connects to an address that it checked: an
// answer of the name's server that changes in between decides nothing.
type publicDialer struct {
	resolve func(ctx context.Context, network, host string) ([]netip.Addr, error)
	connect func(ctx context.Context, network, address string) (net.Conn, error)
}

func newPublicDialer() *publicDialer {
	d := &net.Dialer{Timeout: documentTimeout, Control: checkConnection}
	return &publicDialer{resolve: net.DefaultResolver.LookupNetIP, connect: d.DialContext}
}

// checkConnection is the second check, of the address that the system is about to
// connect to.
func checkConnection(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(to.Addr()) {
		return &addressError{}
	}
	return nil
}

func (d *publicDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := d.resolve(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for i, found := range addresses {
		// The resolver writes addresses of version 4 as mapped ones. A mapped one
		// of a AAAA record cannot be told from them; it is checked all the same.
		addresses[i] = found.Unmap()
		if !isPublic(addresses[i]) {
			return nil, &addressError{}
		}
	}
	err = errors.New("the name has no address")
	for _, found := range addresses[:min(len(addresses), 4)] {
		var c net.Conn
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		c, err = d.connect(attempt, network, net.JoinHostPort(found.String(), port))
		cancel()
		if err == nil {
			return c, nil
		}
	}
	return nil, err
}
