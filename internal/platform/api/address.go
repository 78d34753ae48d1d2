package api

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// downloadHosts are where the platform keeps finished reports: itself, and the
// storage that it links to. Addresses elsewhere are not fetched, so that a
// forged answer cannot make this machine ask its own network.
var downloadHosts = []string{"amazonaws.com", "amazon.com"}

// parseAddress checks an address that the configuration names.
func parseAddress(field, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &Error{Kind: Invalid, Reason: field + " is no address like https://host/path"}
	case !isHTTPS(u) && !loopbackHTTP(u):
		return nil, &Error{Kind: Invalid, Reason: field + " must begin with https:// (http:// only to this machine)"}
	}
	return u, nil
}

func isHTTPS(u *url.URL) bool { return u.Scheme == "https" }

func loopbackHTTP(u *url.URL) bool { return u.Scheme == "http" && isLoopback(u) }

func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// downloadAddress checks an address that the platform gave for a download.
// The error names no more of it than the host: the rest is a credential.
func (c *Client) downloadAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, &Error{Kind: BadAnswer, Call: "download", Reason: "the platform's link is no address"}
	}
	if !c.mayDownload(u) {
		return nil, &Error{Kind: BadAnswer, Call: "download", Reason: fmt.Sprintf(
			"the platform's link leads to %s://%s, expected https and a host of %s",
			c.scrub.cleanText(u.Scheme, 20), c.scrub.cleanText(u.Host, 100), strings.Join(c.hosts, " or "))}
	}
	return u, nil
}

func (c *Client) mayDownload(u *url.URL) bool {
	if isLoopback(c.base) && isLoopback(u) {
		return isHTTPS(u) || loopbackHTTP(u)
	}
	host := strings.ToLower(u.Hostname())
	return isHTTPS(u) && slices.ContainsFunc(c.hosts, func(known string) bool {
		return host == known || strings.HasSuffix(host, "."+known)
	})
}
