package oauth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/flight"
	"adlens/internal/lru"

	"github.com/go-json-experiment/json"
)

// Bounds of fetching clients' metadata documents, whose addresses strangers
// choose.
const (
	maxDocument       = 5 << 10 // bytes
	documentTimeout   = 5 * time.Second
	documentsAtOnce   = 8
	documentsAllowed  = 30 // fetches that an address may cause in any minute
	minDocumentAge    = 5 * time.Minute
	maxDocumentAge    = 24 * time.Hour
	failedDocumentAge = time.Minute
	documentsMemory   = 4 << 20 // bytes of ids, names and redirect URIs
	failuresKept      = 1_000
)

// documents finds clients by the https URL of their metadata document
// (draft-ietf-oauth-client-id-metadata-document).
type documents struct {
	http    *http.Client
	slots   chan struct{} // held while a document is fetched
	fetches flight.Group[string, keptDocument]
	good    *lru.Cache[string, keptDocument]
	// bad are apart from good: made-up addresses do not evict clients.
	bad    *lru.Cache[string, keptDocument]
	causes *auth.Failures // fetches, by the address that caused them
}

// keptDocument is a fetched document, or why there is none.
type keptDocument struct {
	client client
	err    error
	until  time.Time
}

func newDocuments(dial func(ctx context.Context, network, address string) (net.Conn, error), roots *x509.CertPool) *documents {
	if dial == nil {
		dial = newPublicDialer().dial
	}
	transport := &http.Transport{
		Proxy:                  nil, // one from the environment would dial unchecked addresses
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    documentTimeout,
		MaxResponseHeaderBytes: 16 << 10,
		DisableKeepAlives:      true,
		DisableCompression:     true,
	}
	return &documents{
		http: &http.Client{Transport: transport, Timeout: documentTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		slots:  make(chan struct{}, documentsAtOnce),
		good:   lru.New(documentsMemory, weighDocument),
		bad:    lru.New(failuresKept, func(string, keptDocument) int { return 1 }),
		causes: auth.NewFailuresUpTo(documentsAllowed),
	}
}

func weighDocument(id string, kept keptDocument) int {
	weight := 200 + len(id) + len(kept.client.name)
	for _, uri := range kept.client.redirects {
		weight += 16 + len(uri)
	}
	return weight
}

// oldDocuments is for how long after its time a document counts while no other is
// fetched.
const oldDocuments = 7 * 24 * time.Hour

// find returns the client of a URL. All who ask for it at once share one fetch.
func (d *documents) find(ctx context.Context, id string, remote netip.Addr, now time.Time) (client, error) {
	if err := checkDocumentURL(id); err != nil {
		return client{}, err
	}
	for _, cache := range []*lru.Cache[string, keptDocument]{d.good, d.bad} {
		if kept, ok := cache.Get(id); ok && now.Before(kept.until) {
			return kept.client, kept.err
		}
	}
	if wait := d.causes.Wait(remote, now); wait > 0 {
		// Strangers behind the same proxy do not keep out a client that was here.
		if old, ok := d.good.Get(id); ok && now.Before(old.until.Add(oldDocuments)) {
			return old.client, nil
		}
		return client{}, &busyError{wait}
	}
	d.causes.Note(remote, now)
	kept, err := d.fetches.Do(ctx, id, func(ctx context.Context) (keptDocument, error) {
		kept, err := d.fetchKept(ctx, id, now)
		if err != nil {
			return keptDocument{}, err
		}
		if kept.err != nil {
			d.bad.Put(id, kept)
		} else {
			d.good.Put(id, kept)
		}
		return kept, nil
	})
	if err != nil {
		return client{}, err
	}
	return kept.client, kept.err
}

// busyError reports a document that is not fetched now.
type busyError struct{ wait time.Duration }

func (e *busyError) Error() string {
	return "too many unknown clients are being looked up: try again later"
}

// fetchKept fetches a document when there is a slot. What is wrong with the
// document is a result that is kept; having to wait for too long is an error.
func (d *documents) fetchKept(ctx context.Context, id string, now time.Time) (keptDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*documentTimeout)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return keptDocument{}, &busyError{documentTimeout}
	}
	fetched, age, err := d.fetch(ctx, id)
	if err != nil {
		if ctx.Err() != nil {
			return keptDocument{}, &busyError{documentTimeout}
		}
		return keptDocument{err: fmt.Errorf("the metadata document of the client cannot be used: %w", err), until: now.Add(failedDocumentAge)}, nil
	}
	return keptDocument{client: fetched, until: now.Add(age)}, nil
}

// fetch fetches and checks a document, and returns for how long it may be kept.
func (d *documents) fetch(ctx context.Context, id string) (client, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return client{}, 0, errors.New("its address does not parse")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "adlens")
	response, err := d.http.Do(request)
	if err != nil {
		return client{}, 0, plainFetchError(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return client{}, 0, fmt.Errorf("its server answered %d, expected 200 without redirects", response.StatusCode)
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return client{}, 0, errors.New("it is not of type application/json")
	}
	if response.Header.Get("Content-Encoding") != "" {
		return client{}, 0, errors.New("it is compressed, which was not accepted")
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return client{}, 0, plainFetchError(err)
	case len(text) > maxDocument:
		return client{}, 0, fmt.Errorf("it is larger than %d bytes", maxDocument)
	}
	found, err := parseDocument(id, text)
	return found, documentAge(response.Header), err
}

// plainFetchError keeps what a stranger may learn about a failed fetch: not which
// addresses a name has inside of this network.
func plainFetchError(err error) error {
	var refused *addressError
	if errors.As(err, &refused) {
		return refused
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("its server did not answer within %s", documentTimeout)
	}
	return errors.New("its server cannot be reached by https")
}

// document are the members of a metadata document that matter here.
type document struct {
	ClientID        string   `json:"client_id"`
	Name            string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	ClientSecret    *string  `json:"client_secret"`
	TokenAuthMethod string   `json:"token_endpoint_auth_method"`
}

// parseDocument checks a document that was fetched from an address. It must say
// that it is that of this address: else one that a host merely stores, such as
// an upload, would speak for the host.
func parseDocument(id string, text []byte) (client, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return client{}, errors.New("it is no JSON object of client metadata with each name once")
	}
	switch {
	case doc.ClientID != id:
		return client{}, fmt.Errorf("its client_id is %q, expected its own address", adlens.CleanText(doc.ClientID, 100))
	case doc.ClientSecret != nil || strings.HasPrefix(doc.TokenAuthMethod, "client_secret_"):
		return client{}, errors.New("it has a client secret, which no public document can keep")
	case len(doc.RedirectURIs) == 0 || len(doc.RedirectURIs) > maxRedirectURIs:
		return client{}, fmt.Errorf("its redirect_uris has %d URIs, expected 1 to %d", len(doc.RedirectURIs), maxRedirectURIs)
	}
	if err := checkGrants(doc.GrantTypes, doc.ResponseTypes); err != nil {
		return client{}, err
	}
	for _, uri := range doc.RedirectURIs {
		if _, _, err := parseRedirectURI(uri); err != nil {
			return client{}, err
		}
	}
	u, _ := url.Parse(id)
	return client{id: id, name: cleanName(doc.Name), host: strings.ToLower(u.Hostname()), redirects: doc.RedirectURIs}, nil
}

// documentAge is the max-age of a response, between minDocumentAge and
// maxDocumentAge.
func documentAge(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil && strings.EqualFold(name, "max-age") {
			return min(max(time.Duration(seconds)*time.Second, minDocumentAge), maxDocumentAge)
		}
	}
	return minDocumentAge
}

// checkDocumentURL checks that a client id is the address of a document: https, a
// host name, the port of https, a path, and nothing that could be read in two
// ways.
func checkDocumentURL(id string) error {
	u, err := url.Parse(id)
	switch {
	case err != nil || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"'<>^`{|}#", r) }):
		return errors.New("client_id is no URL in plain ASCII without a fragment")
	case u.Scheme != "https" || u.User != nil || u.Opaque != "" || !isHostName(u.Host):
		return errors.New("client_id must be an https URL of a host name, without a port and user information")
	case u.Path == "" || u.Path == "/" || hasDotSegment(u.Path):
		return errors.New("client_id must have a path, without the segments . and .. in it")
	}
	return nil
}
