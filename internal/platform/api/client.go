package api

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Config is a connection to the platform and what the client needs from
// around it. Region (or both addresses), ClientID and the two secrets are
// needed.
type Config struct {
	Region       Region
	ClientID     string
	ClientSecret Secret
	RefreshToken Secret

	BaseURL       string   // replaces the region's API; http is allowed to this machine
	TokenURL      string   // replaces the region's token endpoint; likewise
	DownloadHosts []string // replaces the domains that downloads may come from

	Now       func() time.Time                           // time.Now where nil
	Sleep     func(context.Context, time.Duration) error // waits as Sleep does, which it is where nil
	Notice    func(Retry)                                // may be called from several goroutines; nil is silent
	Transport http.RoundTripper                          // one with timeouts where nil
}

// Client calls the platform for one connection. It may be used from several
// goroutines; no more than two exchanges run at a time.
type Client struct {
	cfg    Config
	limits limits
	base   *url.URL
	hosts  []string
	http   *http.Client // for the API and the tokens: follows no redirect
	files  *http.Client // for downloads: follows redirects of the same host
	scrub  *scrubber
	tokens *tokens
	slots  chan struct{}
}

// visible is what may stand in a header.
var visible = regexp.MustCompile(`^[\x21-\x7e]+$`)

// New checks a configuration and returns its client. Nothing is sent.
func New(cfg Config) (*Client, error) {
	base, token, err := cfg.parseAddresses()
	if err != nil {
		return nil, err
	}
	for _, need := range []struct{ name, value string }{
		{"the client id", cfg.ClientID}, {"the client secret", cfg.ClientSecret.Reveal()}, {"the refresh token", cfg.RefreshToken.Reveal()},
	} {
		if !visible.MatchString(need.value) {
			return nil, &Error{Kind: Invalid, Reason: need.name + " is empty or has spaces or characters that it cannot have"}
		}
	}
	return newClient(cfg, base, token), nil
}

func newClient(cfg Config, base, token *url.URL) *Client {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = Sleep
	}
	if cfg.Transport == nil {
		cfg.Transport = newTransport()
	}
	c := &Client{cfg: cfg, limits: defaultLimits(), base: base, hosts: cfg.DownloadHosts,
		scrub: newScrubber(cfg.ClientSecret, cfg.RefreshToken)}
	if len(c.hosts) == 0 {
		c.hosts = downloadHosts
	}
	c.http = &http.Client{Transport: cfg.Transport, CheckRedirect: noRedirect}
	c.files = &http.Client{Transport: cfg.Transport, CheckRedirect: sameHostOnly}
	c.tokens = newTokens(c, token)
	c.slots = make(chan struct{}, c.limits.concurrent)
	return c
}

// parseAddresses are the two that the client calls: the region's, or what replaces
// them.
func (cfg Config) parseAddresses() (base, token *url.URL, err error) {
	region, err := ParseRegion(string(cfg.Region))
	if err != nil && (cfg.BaseURL == "" || cfg.TokenURL == "") {
		return nil, nil, err
	}
	if base, err = parseAddress("the platform's address", cmp.Or(cfg.BaseURL, addresses[region].base)); err != nil {
		return nil, nil, err
	}
	base.Path = strings.TrimRight(base.Path, "/")
	token, err = parseAddress("the token address", cmp.Or(cfg.TokenURL, addresses[region].token))
	return base, token, err
}

func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bytes are wanted as they came
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    2,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// Sleep waits, or returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
