// Package connector is an account's living connection to the platform: it
// stores and checks credentials, and fetches the platform's own reports into
// the layout of extracts, from where the ordinary loader takes them. Nothing
// that it fetches has another way into the store.
package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/secret"
	"adlens/loader"
	"adlens/platform"
	"adlens/platform/api"
)

// Store keeps connections and the reports that were asked for.
type Store interface {
	Connection(ctx context.Context, account string) (c adlens.Connection, found bool, err error)
	PutConnection(ctx context.Context, c adlens.Connection) error
	OpenRequests(ctx context.Context, account string) ([]adlens.ReportRequest, error)
	PutRequest(ctx context.Context, r adlens.ReportRequest) error
}

// Connector connects accounts.
type Connector struct {
	Store Store
	Key   secret.Key
	// Load loads files for an account by the ordinary loader.
	Load func(ctx context.Context, account string, paths []string) (loader.Result, error)
	// BaseURL and TokenURL replace the platform's addresses in tests.
	BaseURL, TokenURL string
	// Notice hears what a person would want to know while it takes long.
	Notice func(text string)
}

// Secrets are the credentials that nobody else may read.
type Secrets struct {
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

func (c *Connector) client(connection adlens.Connection, s Secrets) (*api.Client, error) {
	region, err := api.ParseRegion(connection.Region)
	if err != nil {
		return nil, err
	}
	return api.New(api.Config{Region: region, ClientID: connection.ClientID,
		ClientSecret: api.NewSecret(s.ClientSecret), RefreshToken: api.NewSecret(s.RefreshToken),
		BaseURL: c.BaseURL, TokenURL: c.TokenURL, Log: c.event})
}

// event says what stands in the way of a call.
func (c *Connector) event(e api.Event) {
	if e.Wait > 0 {
		c.Notice(fmt.Sprintf("%s: %s; next try in %s", e.Call, e.Detail, e.Wait.Round(time.Second)))
	}
}

// Connect checks credentials against the platform and stores them sealed. It
// returns the profiles found, which are the account's marketplaces from then
// on.
func (c *Connector) Connect(ctx context.Context, account, region, clientID string, s Secrets) ([]platform.Profile, error) {
	connection := adlens.Connection{Account: account, Region: region, ClientID: clientID,
		ConnectedAt: time.Now().UTC().Truncate(time.Millisecond), Accepted: true}
	client, err := c.client(connection, s)
	if err != nil {
		return nil, err
	}
	profiles, err := c.takeProfiles(ctx, client, account)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	connection.Sealed = c.Key.Seal(text, purpose(connection))
	return profiles, c.Store.PutConnection(ctx, connection)
}

// purpose ties sealed secrets to whose they are.
func purpose(c adlens.Connection) string { return c.Account + "|" + c.Region + "|" + c.ClientID }

// open returns the client of a connected account.
func (c *Connector) open(ctx context.Context, account string) (adlens.Connection, *api.Client, error) {
	connection, found, err := c.Store.Connection(ctx, account)
	if err != nil {
		return connection, nil, err
	}
	if !found {
		return connection, nil, fmt.Errorf("account %q is not connected to the platform; connect it with: adlens connect --account %s --region REGION --client-id ID", account, account)
	}
	text, err := c.Key.Open(connection.Sealed, purpose(connection))
	if err != nil {
		return connection, nil, fmt.Errorf("the credentials of account %q: %w; give the key file that they were sealed with by --secret-key-file, or connect again", account, err)
	}
	var s Secrets
	if err := json.Unmarshal(text, &s); err != nil {
		return connection, nil, err
	}
	client, err := c.client(connection, s)
	return connection, client, err
}

// accepted notes whether the platform took the credentials, where it says
// something of them.
func (c *Connector) accepted(ctx context.Context, connection adlens.Connection, err error) error {
	refused := errors.Is(err, api.Unauthorized)
	if refused == !connection.Accepted || err != nil && !refused {
		return err
	}
	connection.Accepted = !refused
	return errors.Join(err, c.Store.PutConnection(ctx, connection))
}
