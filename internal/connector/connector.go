// Package connector is an account's living connection to the platform: it
// stores and checks credentials, reads campaigns when they are requested, and
// fetches the platform's own reports into the layout of extracts, from where
// the ordinary loader takes them.
package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/internal/secret"
	"adlens/loader"
)

// Store keeps connections, what was asked of the platform, and how far it was
// read.
type Store interface {
	Accounts(ctx context.Context) ([]adlens.Account, error)
	// Connections reads those that were not removed, of all accounts where it is "".
	Connections(ctx context.Context, account string) ([]adlens.Connection, error)
	PutConnection(ctx context.Context, c adlens.Connection) error

	OpenRequests(ctx context.Context, account string) ([]adlens.ReportRequest, error)
	PutRequest(ctx context.Context, r adlens.ReportRequest) error
	// LoadedReports returns the ids of all reports that were loaded.
	LoadedReports(ctx context.Context, account string) (map[string]bool, error)
	// LegacyProfiles returns which profiles have campaigns of Sponsored Brands that only
	// legacy reports have.
	LegacyProfiles(ctx context.Context, account string) (map[string]bool, error)
	// AwaitedVersion returns a number that changes with the rates of an account, and with
	// what its lists say of campaigns: what downloaded reports wait for.
	AwaitedVersion(ctx context.Context, account string) (uint32, error)

	Profiles(ctx context.Context, account string) ([]platform.Profile, error) // that are held
	// HeldDays returns a new map of the days of a profile's ad product that are held.
	HeldDays(ctx context.Context, account, marketplaceID string, p adlens.AdProduct) (map[adlens.Day]bool, error)
	Refreshed(ctx context.Context, account string) ([]adlens.Refreshed, error)
	PutRefreshed(ctx context.Context, all []adlens.Refreshed) error
	RateSpans(ctx context.Context, account string) ([]loader.RateSpan, error)

	Attempt(ctx context.Context, name string) (a adlens.Attempt, found bool, err error)
	BeginAttempt(ctx context.Context, name string, failures int) error
	EndAttempt(ctx context.Context, name string, failures int) error
	// Forgive forgets the failures of the work with the name reports, which may begin at
	// once, and of all whose names begin with lists.
	Forgive(ctx context.Context, reports, lists string) error
}

// Loader makes what was fetched the account's.
type Loader interface {
	Load(ctx context.Context, account string, paths []string) (loader.Result, error)
	ReplaceLists(ctx context.Context, account string, read loader.Lists) error
}

// Locks let one process at a time do a thing that has a name, whichever
// machine it runs on.
type Locks interface {
	Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error)
	Try(ctx context.Context, name string) (release func() error, ok bool, err error)
	Held(ctx context.Context, name string) (bool, error)
}

// Config is what a Connector needs from around it.
type Config struct {
	Store  Store
	Loader Loader
	Locks  Locks
	// Bank is where rates of exchange are fetched; nil for nowhere.
	Bank Bank
	// Key returns the key that credentials are sealed with.
	Key func() (secret.Key, error)
	// BaseURL and TokenURL replace the platform's addresses in tests.
	BaseURL, TokenURL Addresses
	// Notice hears what a person would want to know while it takes long. It
	// may be called from several goroutines.
	Notice func(account, text string)
	// Now is the clock that days end by; time.Now where nil.
	Now func() time.Time
	// Pace divides the pauses between two looks and two tries at the platform, in
	// tests, where a stand-in takes its place. 1 where 0.
	Pace int
}

// Connector connects accounts.
type Connector struct {
	Config

	mu      sync.Mutex
	clients map[string]sealedClient  // by account and name
	loading map[string]chan struct{} // by account: one connection's files, or one profile's lists, at a time

	reads chan struct{} // has a value for each marketplace whose lists the platform is giving
	holds chan struct{} // has a value for each whose lists are in memory

	notOffered, outside atomic.Uint64
}

// sealedClient is the client of a connection. It is kept, so that the calls of
// a connection share one token and one measure of politeness.
type sealedClient struct {
	sealed string
	client *api.Client
}

// New returns a connector.
func New(c Config) *Connector {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Pace = max(c.Pace, 1)
	return &Connector{Config: c, clients: map[string]sealedClient{}, loading: map[string]chan struct{}{}, reads: make(chan struct{}, readsAtOnce), holds: make(chan struct{}, heldAtOnce)}
}

// paced is how long a pause takes at the connector's pace.
func (c *Connector) paced(pause time.Duration) time.Duration { return pause / time.Duration(c.Pace) }

// Secrets are the credentials that no other user may read.
type Secrets struct {
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

func (c *Connector) newClient(connection adlens.Connection, s Secrets) (*api.Client, error) {
	cfg, err := c.config(connection, s)
	if err != nil {
		return nil, err
	}
	return api.New(cfg)
}

func (c *Connector) config(connection adlens.Connection, s Secrets) (cfg api.Config, err error) {
	region, err := api.ParseRegion(connection.Region)
	if err != nil {
		return cfg, err
	}
	base, err := c.BaseURL.Of(region)
	if err != nil {
		return cfg, err
	}
	token, err := c.TokenURL.Of(region)
	if err != nil {
		return cfg, err
	}
	sleep := func(ctx context.Context, pause time.Duration) error { return api.Sleep(ctx, c.paced(pause)) }
	return api.Config{Region: region, ClientID: connection.ClientID,
		ClientSecret: api.NewSecret(s.ClientSecret), RefreshToken: api.NewSecret(s.RefreshToken),
		BaseURL: base, TokenURL: token, Sleep: sleep, Notice: func(r api.Retry) { c.noticeRetry(connection.Account, r) }}, nil
}

// noticeRetry says what stands in the way of a call.
func (c *Connector) noticeRetry(account string, r api.Retry) {
	c.Notice(account, fmt.Sprintf("%s: %s; next try in %s", r.Call, r.Detail, r.Wait.Round(time.Second)))
}

// Check says what is wrong with the configuration, as far as it can be told
// before anything is sent.
func (c *Connector) Check() error {
	for region := range c.BaseURL.regions() {
		if _, err := c.newClient(adlens.Connection{Region: string(region), ClientID: "none"}, Secrets{"none", "none"}); err != nil {
			return err
		}
	}
	return nil
}

// sealPurpose ties sealed secrets to whose they are.
func sealPurpose(c adlens.Connection) string { return c.Account + "|" + c.Region + "|" + c.ClientID }

// openClient returns the client of a connection.
func (c *Connector) openClient(connection adlens.Connection) (*api.Client, error) {
	key := connection.Account + "/" + connection.Name
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept := c.clients[key]; kept.sealed == connection.Sealed && kept.client != nil {
		return kept.client, nil
	}
	s, err := c.unsealSecrets(connection)
	if err != nil {
		return nil, err
	}
	client, err := c.newClient(connection, s)
	if err == nil {
		c.clients[key] = sealedClient{connection.Sealed, client}
	}
	return client, err
}

func (c *Connector) unsealSecrets(connection adlens.Connection) (s Secrets, err error) {
	key, err := c.Key()
	if err != nil {
		return s, err
	}
	text, err := key.Open(connection.Sealed, sealPurpose(connection))
	if err != nil {
		return s, fmt.Errorf("the credentials of connection %q of account %q: %w; give the key file that they were sealed with by --secret-key-file, or connect again", connection.Name, connection.Account, err)
	}
	return s, json.Unmarshal(text, &s)
}

// CanOpen reports whether the credentials of a connection can be read with the
// operator's key; the error says what to do where they cannot.
func (c *Connector) CanOpen(connection adlens.Connection) error {
	_, err := c.unsealSecrets(connection)
	return err
}

// noteAccepted notes whether the platform took the credentials, where it says
// something of them. Nothing is noted where others were stored meanwhile.
func (c *Connector) noteAccepted(ctx context.Context, used adlens.Connection, err error) error {
	refused := errors.Is(err, api.Unauthorized)
	if refused == !used.Accepted || err != nil && !refused {
		return err
	}
	release, lockErr := c.lockConnections(ctx, used.Account)
	if lockErr != nil {
		return errors.Join(err, lockErr)
	}
	stored, found, readErr := c.findConnection(ctx, used.Account, used.Name)
	if readErr != nil || !found || stored.Sealed != used.Sealed {
		return errors.Join(err, readErr, release())
	}
	stored.Accepted = !refused
	return errors.Join(err, c.Store.PutConnection(ctx, stored), release())
}
