package oauth

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// ResourcePath is where assistants ask, below the base.
const ResourcePath = "/mcp"

// ParsePublicURL returns the address that clients see, without a final slash: an
// https URL of a host, and nothing more. A path is refused, because the paths of
// metadata have fixed places at the root of a host.
func ParsePublicURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || !isHostName(u.Hostname()) || strings.Contains(u.Host, ":") && !isPort(u.Port()) || u.User != nil || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return "", fmt.Errorf("public URL %q: expected https://host or https://host:port, without a path", text)
	}
	return "https://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443"), nil // browsers leave the port of https out of Origin
}

// ParseBaseURL returns an address that assistants may be given: a public one, or that of
// this machine, which alone is reached by http.
func ParseBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return ParsePublicURL(text)
	}
	host, ok := loopbackHost(u.Host)
	if !ok || !strings.EqualFold(strings.TrimSuffix(text, "/"), "http://"+host) {
		return "", fmt.Errorf("URL %q: expected https://host or, on this machine alone, one like http://127.0.0.1:8080, without a path", text)
	}
	return "http://" + host, nil
}

// Base returns the address under which a client reaches the server: the public
// URL, or that of this machine. Without a public URL a request is refused unless
// it verifiably comes from this machine: peer and Host are loopback, and no proxy
// has added a header. So a name that an attacker rebinds to a loopback address
// leads nowhere.
func (s *Server) Base(r *http.Request) (base string, err error) {
	if s.publicURL != "" {
		return s.publicURL, nil
	}
	if name := ProxyHeader(r); name != "" {
		return "", fmt.Errorf("the request came through a proxy (header %s): start serve with --public-url https://... to let its clients in", name)
	}
	if !remoteAddress(r).Unmap().IsLoopback() {
		return "", errors.New("only assistants on this machine may connect: start serve with --public-url https://... to let others in")
	}
	host, ok := loopbackHost(r.Host)
	if !ok {
		return "", errors.New("the Host header is not that of this machine: use http://localhost or http://127.0.0.1, or start serve with --public-url")
	}
	return "http://" + host, nil
}

// ProxyHeader returns the name of a header by which a proxy says that it passed the request
// on; "" where there is none.
func ProxyHeader(r *http.Request) string {
	for name := range r.Header {
		if lower := strings.ToLower(name); lower == "forwarded" || strings.HasPrefix(lower, "x-forwarded-") {
			return name
		}
	}
	return ""
}

// Resource returns the identifier of what tokens are for.
func Resource(base string) string { return base + ResourcePath }

// ResourceMetadataURL returns where the metadata of the resource is, for the
// header WWW-Authenticate.
func ResourceMetadataURL(base string) string { return base + pathResourceOf }

// loopbackHost returns the value of a Host header in lower case if it is this
// machine's: localhost, 127.0.0.0/8 or ::1, with or without a port.
func loopbackHost(header string) (string, bool) {
	header = strings.ToLower(header)
	name, port := header, ""
	if host, p, err := net.SplitHostPort(header); err == nil {
		name, port = host, p
		if !isPort(port) {
			return "", false
		}
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
		if strings.Contains(name, ":") != strings.HasPrefix(header, "[") {
			return "", false
		}
	}
	if name == "localhost" {
		return header, true
	}
	address, err := netip.ParseAddr(name)
	return header, err == nil && address.Zone() == "" && !address.Is4In6() && address.IsLoopback()
}

// isPort reports whether a text is a port in its shortest form.
func isPort(text string) bool {
	if len(text) == 0 || len(text) > 5 || text[0] == '0' || strings.Trim(text, "0123456789") != "" {
		return false
	}
	return len(text) < 5 || text <= "65535"
}

// isHostName reports whether a text is a name of the domain name system with at
// least one dot, and no address in any spelling: browsers read 127.1, 0x7f.1 and
// 2130706433 as addresses, all of which end in a label that begins with a digit.
func isHostName(host string) bool {
	labels := strings.Split(strings.ToLower(host), ".")
	if len(host) > 253 || len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}
