// Package api fetches the European Central Bank's files of reference rates from its
// web server.
package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adlens/internal/ecb"
)

// DailyURL is the bank's file of the newest day (ecb.europa.eu, euro foreign
// exchange reference rates, downloads).
const DailyURL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref.zip"

// historyFile is the file of all days. It is in the directory of the daily one.
const historyFile = "eurofxref-hist.zip"

const (
	userAgent    = "adlens"
	patience     = time.Minute // for one file, with all tries
	tries        = 3
	firstRetry   = time.Second
	maxRedirects = 3
)

// Client reads the bank's files.
type Client struct {
	daily, history *url.URL
	http           *http.Client
}

// New returns a client of the server on which the daily file has an address; the
// history is next to it. https is needed, but for addresses of this machine.
func New(address string) (*Client, error) {
	daily, err := url.Parse(address)
	if err != nil || daily.Host == "" || daily.User != nil || daily.RawQuery != "" || daily.Fragment != "" || daily.Scheme != "https" && !isLoopbackHTTP(daily) {
		return nil, fmt.Errorf("the address of rates is %q; expected the daily file's, like %s (http:// only to this machine), or none", address, DailyURL)
	}
	return &Client{daily: daily, history: daily.ResolveReference(&url.URL{Path: historyFile}), http: &http.Client{CheckRedirect: sameHostOnly}}, nil
}

func isLoopbackHTTP(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// sameHostOnly follows redirects that stay on the server, so that a forged answer
// cannot make this machine ask its own network.
func sameHostOnly(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	if len(before) > maxRedirects || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// Daily reads the rates of the newest day.
func (c *Client) Daily(ctx context.Context) (ecb.Table, error) { return c.fetch(ctx, c.daily) }

// History reads the rates of all days.
func (c *Client) History(ctx context.Context) (ecb.Table, error) { return c.fetch(ctx, c.history) }

// passing is a failure that another try may mend.
type passing struct{ error }

func (c *Client) fetch(ctx context.Context, from *url.URL) (ecb.Table, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait := firstRetry
	for try := 1; ; try++ {
		table, err := c.fetchOnce(bounded, from)
		if err == nil || ctx.Err() != nil {
			return table, errors.Join(err, ctx.Err())
		}
		var again passing
		if !errors.As(err, &again) || try == tries {
			return nil, fmt.Errorf("the rates at %s could not be read: %w", from, err)
		}
		select {
		case <-bounded.Done():
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (c *Client) fetchOnce(ctx context.Context, from *url.URL) (ecb.Table, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, err
	}
	// Asking for the bytes as they are keeps any transport from unpacking them.
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", userAgent)
	response, err := c.http.Do(request)
	if err != nil {
		var named *url.Error // the address is in the error already
		if errors.As(err, &named) {
			err = named.Err
		}
		return nil, passing{err}
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status >= 300 && status < 400:
		return nil, fmt.Errorf("it redirects to %q, which is not followed", response.Header.Get("Location"))
	case status >= 500 || status == http.StatusTooManyRequests:
		return nil, passing{fmt.Errorf("status %d, expected 200", status)}
	case status != http.StatusOK:
		return nil, fmt.Errorf("status %d, expected 200", status)
	}
	all, err := io.ReadAll(io.LimitReader(response.Body, ecb.MaxFile+1))
	if err != nil {
		return nil, passing{fmt.Errorf("the answer broke off: %w", err)}
	}
	return readAnswer(all)
}

func readAnswer(all []byte) (ecb.Table, error) {
	if text := strings.TrimSpace(string(all[:min(len(all), 64)])); strings.HasPrefix(text, "<") {
		return nil, fmt.Errorf("it begins with %q, expected a zip archive or CSV", text)
	}
	return ecb.Read(bytes.NewReader(all))
}
