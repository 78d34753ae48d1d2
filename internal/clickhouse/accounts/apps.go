package accounts

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/query"
)

var _ auth.AppStore = AppStore{}

// AppStore is the connections of assistants of a database, whose access tokens
// auth finds as it finds keys.
type AppStore struct{ Cluster *cluster.Cluster }

// KeyByHash finds the connection one of whose access tokens has this hash, and
// returns it as the record of that token.
func (s AppStore) KeyByHash(ctx context.Context, access [32]byte) (auth.Record, bool, error) {
	holds := func(secret auth.Secret) bool { return secret.Hash == access }
	app, found, err := s.findBySecret(ctx, "has(access_sha256, toFixedString(unhex({hash:String}), 32))", access, func(a auth.App) bool { return slices.ContainsFunc(a.Access, holds) })
	if err != nil || !found || app.ConnectedAt == nil {
		return auth.Record{}, false, err
	}
	expires := app.Access[slices.IndexFunc(app.Access, holds)].ExpiresAt
	return auth.Record{ID: app.ID, AccountID: app.AccountID, Name: app.Name, Hash: access, Scopes: []string{auth.ScopeRead},
		CreatedAt: *app.ConnectedAt, ExpiresAt: &expires, RevokedAt: app.RevokedAt, Request: app.Resource}, true, nil
}

// AppByInvite finds a connection by the hash of its invitation's code.
func (s AppStore) AppByInvite(ctx context.Context, invite [32]byte) (auth.App, bool, error) {
	return s.findBySecret(ctx, "invite_sha256 = unhex({hash:String})", invite, func(a auth.App) bool { return a.Invite.Hash == invite })
}

// AppByFamily finds a connection by the hash of what its secrets begin with.
func (s AppStore) AppByFamily(ctx context.Context, family [32]byte) (auth.App, bool, error) {
	return s.findBySecret(ctx, "family_sha256 = unhex({hash:String})", family, func(a auth.App) bool { return a.Family == family })
}

// AppByID finds a connection by its id.
func (s AppStore) AppByID(ctx context.Context, id string) (auth.App, bool, error) {
	all, err := s.readUsedApps(ctx, "app_id = {app:String}", conn.Params{"app": query.Text(id)})
	return directory.Found(ctx, s.Cluster.Home().Server, "apps", query.Text(id), all, err)
}

// Apps reads the connections of an account, oldest first: those that ended and
// invitations too.
func (s AppStore) Apps(ctx context.Context, account string) ([]auth.App, error) {
	return s.readUsedApps(ctx, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

// findBySecret finds the connection whose newest row has a secret. Rows are sealed
// by their ids, which a secret does not tell, so a secret is unknown only where no
// connection at all was lost.
func (s AppStore) findBySecret(ctx context.Context, filter string, hash [32]byte, has func(auth.App) bool) (app auth.App, found bool, err error) {
	if hash == ([32]byte{}) { // of what did not happen yet
		return app, false, nil
	}
	all, err := s.readApps(ctx, filter, conn.Params{"hash": hex.EncodeToString(hash[:])})
	if err != nil {
		return app, false, err
	}
	if i := slices.IndexFunc(all, has); i >= 0 {
		return all[i], true, nil
	}
	return app, false, directory.RequireWhole(ctx, s.Cluster.Home().Server, "apps", "")
}

// readUsedApps is readApps with the last uses.
func (s AppStore) readUsedApps(ctx context.Context, filter string, params conn.Params) ([]auth.App, error) {
	all, err := s.readApps(ctx, filter, params)
	if err != nil || len(all) == 0 {
		return all, err
	}
	used, err := lastUses(ctx, s.Cluster, "SELECT app_id FROM apps WHERE "+filter, params)
	for i, a := range all {
		all[i].LastUsedAt = used[a.ID]
	}
	return all, err
}

// readApps reads the newest rows of the connections of which some row matches.
func (s AppStore) readApps(ctx context.Context, filter string, params conn.Params) ([]auth.App, error) {
	return conn.Collect(ctx, s.Cluster.Home(), `
SELECT a.app_id, a.account_id, a.invited_at, a.invite_sha256, a.invite_expires_at, a.family_sha256, a.name, a.client_id, a.redirect_uri, a.resource, a.challenge,
    a.code_sha256, a.code_expires_at, a.connected_at, a.refresh_sha256, a.refresh_expires_at, a.access_sha256, a.access_expires_at, a.revoked_at
FROM (SELECT * FROM apps WHERE app_id IN (SELECT app_id FROM apps WHERE `+filter+`) ORDER BY updated_at DESC LIMIT 1 BY app_id) AS a
ORDER BY a.invited_at, a.app_id`, params, scanApp)
}

func scanApp(scan conn.Scan) (a auth.App, err error) {
	var invite, family, code, refresh string
	var access []string
	var accessEnds []time.Time
	err = scan(&a.ID, &a.AccountID, &a.InvitedAt, &invite, &a.Invite.ExpiresAt, &family, &a.Name, &a.ClientID, &a.RedirectURI, &a.Resource, &a.Challenge,
		&code, &a.Code.ExpiresAt, &a.ConnectedAt, &refresh, &a.Refresh.ExpiresAt, &access, &accessEnds, &a.RevokedAt)
	if err != nil {
		return a, err
	}
	if len(access) != len(accessEnds) {
		return a, fmt.Errorf("connection %s has %d access tokens and %d times at which they expire", a.ID, len(access), len(accessEnds))
	}
	copy(a.Invite.Hash[:], invite)
	copy(a.Family[:], family)
	copy(a.Code.Hash[:], code)
	copy(a.Refresh.Hash[:], refresh)
	for _, at := range []*time.Time{&a.Code.ExpiresAt, &a.Refresh.ExpiresAt} {
		if at.UnixMilli() == 0 {
			*at = time.Time{}
		}
	}
	for i, end := range accessEnds {
		a.Access = append(a.Access, auth.Secret{Hash: [32]byte([]byte(access[i])), ExpiresAt: end})
	}
	return a, nil
}

// PutApp adds a connection, or changes the one that has its id. One that is
// revoked stays as it is.
func (s AppStore) PutApp(ctx context.Context, a auth.App) error {
	var access, accessEnds []string
	for _, secret := range a.Access {
		access, accessEnds = append(access, hex.EncodeToString(secret.Hash[:])), append(accessEnds, milliseconds(&secret.ExpiresAt))
	}
	const instants = "fromUnixTimestamp64Milli(toInt64(x), 'UTC')"
	return directory.Change(ctx, s.Cluster.Home().Server, "apps", `
INSERT INTO apps (app_id, account_id, invited_at, invite_sha256, invite_expires_at, family_sha256, name, client_id, redirect_uri, resource, challenge,
    code_sha256, code_expires_at, connected_at, refresh_sha256, refresh_expires_at, access_sha256, access_expires_at, revoked_at, updated_at)
SELECT {app:String}, {account:String}, fromUnixTimestamp64Milli({invited:Int64}, 'UTC'), unhex({invite:String}), fromUnixTimestamp64Milli({inviteEnd:Int64}, 'UTC'), unhex({family:String}),
    {name:String}, {client:String}, {redirect:String}, {resource:String}, {challenge:String}, unhex({code:String}), fromUnixTimestamp64Milli({codeEnd:Int64}, 'UTC'),
    `+instantOrNull("connected")+`, unhex({refresh:String}), fromUnixTimestamp64Milli({refreshEnd:Int64}, 'UTC'),
    arrayMap(x -> toFixedString(unhex(x), 32), `+splitTexts("access")+`), arrayMap(x -> `+instants+`, `+splitTexts("accessEnds")+`), `+instantOrNull("revoked")+`, `+revisionOf("apps", "app_id = {app:String}", a.RevokedAt),
		conn.Params{"app": query.Text(a.ID), "account": query.Text(a.AccountID), "invited": milliseconds(&a.InvitedAt), "invite": hex.EncodeToString(a.Invite.Hash[:]), "inviteEnd": milliseconds(&a.Invite.ExpiresAt),
			"family": hex.EncodeToString(a.Family[:]), "name": query.Text(a.Name), "client": query.Text(a.ClientID), "redirect": query.Text(a.RedirectURI), "resource": query.Text(a.Resource), "challenge": query.Text(a.Challenge),
			"code": hex.EncodeToString(a.Code.Hash[:]), "codeEnd": milliseconds(&a.Code.ExpiresAt), "connected": milliseconds(a.ConnectedAt), "refresh": hex.EncodeToString(a.Refresh.Hash[:]), "refreshEnd": milliseconds(&a.Refresh.ExpiresAt),
			"access": strings.Join(access, ","), "accessEnds": strings.Join(accessEnds, ","), "revoked": milliseconds(a.RevokedAt)})
}
