package connector

import (
	"context"

	"adlens"
	"adlens/internal/platform/api"
)

// Ask returns the secrets of a connection, of which the client secret is known and a
// consent brings the refresh token.
func (c *Connector) Ask(ctx context.Context, wanted adlens.Connection, clientSecret string, consent api.Consent) (s Secrets, err error) {
	cfg, err := c.config(wanted, Secrets{ClientSecret: clientSecret})
	if err != nil {
		return s, err
	}
	refresh, err := api.AskConsent(ctx, cfg, consent)
	return Secrets{ClientSecret: clientSecret, RefreshToken: refresh.Reveal()}, err
}
