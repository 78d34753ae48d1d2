package auth

import (
	"context"
	"time"
)

// App is the connection of an assistant to an account, from the invitation to
// its end (contract D4). It is one row that only moves on: invited, let in by
// consent, connected, revoked. All secrets are hashes, and each is worth
// something in one of these states alone.
type App struct {
	ID        string // by which people name it, "a_..."
	AccountID string
	InvitedAt time.Time
	Invite    Secret // what consent asks for, once

	// Of consent; zero before it. Family is the hash of the text that every later
	// secret of the connection begins with: by it a secret that was replaced is
	// told from one that never was.
	Family      [32]byte
	Name        string // of the assistant, as it says itself
	ClientID    string
	RedirectURI string // where the code was sent
	Resource    string // what tokens are for: the address of /mcp
	Challenge   string // PKCE, S256
	Code        Secret

	// Of the code's exchange; zero before it.
	ConnectedAt *time.Time
	Refresh     Secret
	Access      []Secret // those that are not expired, the newest last

	LastUsedAt *time.Time // as persisted, nil where found by a secret; Usage knows better
	RevokedAt  *time.Time
}

// Secret is what is stored about a secret.
type Secret struct {
	Hash      [32]byte  // SHA-256 of its text
	ExpiresAt time.Time // the first instant at which it is invalid
}

// Connected reports whether the assistant may read: now, or after a refresh.
func (a App) Connected(now time.Time) bool {
	return a.ConnectedAt != nil && a.RevokedAt == nil && now.Before(a.Refresh.ExpiresAt)
}

// AppStore keeps connections of assistants. found is false where there is none.
type AppStore interface {
	AppByInvite(ctx context.Context, invite [32]byte) (app App, found bool, err error)
	AppByFamily(ctx context.Context, family [32]byte) (app App, found bool, err error)
	// PutApp adds a connection, or changes the one that has its id. It returns once
	// the row would survive a kill.
	PutApp(ctx context.Context, app App) error
}
