package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/oauth"

	"github.com/spf13/cobra"
)

func newApp(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Invite assistants, list their connections and revoke them",
		Long: `Invite assistants, list their connections and revoke them. An assistant that
speaks the Model Context Protocol connects to an account without an API key: it
opens a page of the server, where a person types the code of an invitation and
sees who asks. It can read the account and change nothing.`,
		Example: `  adlens app invite --account acme
  adlens app list --account acme`,
		RunE: needSubcommand,
	}
	cmd.AddCommand(newAppInvite(o), newAppList(o), newAppRevoke(o))
	return cmd
}

// loopbackURL is the address of adlens serve where no other is known.
const loopbackURL = "http://" + defaultListen

func newAppInvite(o *options) *cobra.Command {
	var account, base string
	cmd := &cobra.Command{
		Use:   "invite --account ID",
		Short: "Print a code, valid once and for 10 minutes, that connects an assistant",
		Long: `Print a code that connects one assistant to an account, and what to do with it.
The code is valid once and for 10 minutes, and only its hash is kept. It is as
secret as a key: it lets an assistant read the account. adlens app revoke
withdraws it.

With --json it prints code, app_id, account_id and expires_at.`,
		Example: `  adlens app invite --account acme
  adlens app invite --account acme --public-url https://figures.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if base != "" {
				parsed, err := oauth.ParseBaseURL(base) // as serve spells it, which an assistant compares
				if err != nil {
					return fmt.Errorf("--public-url: %w", err)
				}
				base = parsed
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				if owner, ok := o.findOwner(d); ok && base == "" {
					base = cmp.Or(owner.Public, owner.Address)
				}
				known, err := d.requireAccount(cmd.Context(), account)
				if err != nil {
					return err
				}
				code, app, err := d.inviteApp(cmd.Context(), account)
				if err != nil {
					return err
				}
				expires := adlens.FormatTime(app.Invite.ExpiresAt)
				if o.json {
					err = printJSON(cmd.OutOrStdout(), map[string]string{"code": code.Reveal(), "app_id": app.ID, "account_id": account, "expires_at": expires})
				} else {
					err = explainInvite(cmd.OutOrStdout(), code, known, app, base)
				}
				return explainUnprinted("app", app.ID, err)
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that the assistant will read (needed)")
	cmd.Flags().StringVar(&base, "public-url", "", "address of the server as assistants see it; where empty that of the running server, or "+loopbackURL+" for those on this machine")
	cmd.MarkFlagRequired("account")
	return cmd
}

// inviteApp makes and stores an invitation. Of the code, only its hash is kept.
func (d *data) inviteApp(ctx context.Context, account string) (auth.Invite, auth.App, error) {
	code, now := auth.NewInvite(), time.Now().UTC().Truncate(time.Millisecond)
	app := auth.App{ID: newID("a_"), AccountID: account, InvitedAt: now,
		Invite: auth.Secret{Hash: code.Hash(), ExpiresAt: now.Add(oauth.InviteLifetime)}}
	return code, app, d.Apps.PutApp(ctx, app)
}

// explainInvite says in words what to do with a code.
func explainInvite(w io.Writer, code auth.Invite, account adlens.Account, app auth.App, base string) error {
	note := ""
	if base = cmp.Or(base, loopbackURL); strings.HasPrefix(base, "http://") {
		note = "An assistant on another machine needs adlens serve --public-url.\n"
	}
	_, err := fmt.Fprintf(w, `%s

It lets one assistant read account %s.
Valid once, until %s.

1. Give the assistant this address as a server of the Model Context Protocol:
   %s
2. It opens a page that shows who asks and what may be read: type the code there.

To withdraw the invitation, or to end the connection later: adlens app revoke %s
%s`, code.Reveal(), account.DisplayName(), adlens.FormatTime(app.Invite.ExpiresAt), oauth.Resource(base), app.ID, note)
	return err
}

type appJSON struct {
	ID          string  `json:"app_id"`
	Account     string  `json:"account_id"`
	Name        string  `json:"name"`
	ClientID    string  `json:"client_id"`
	RedirectURI string  `json:"redirect_uri"`
	State       string  `json:"state"`
	InvitedAt   string  `json:"invited_at"`
	ConnectedAt *string `json:"connected_at"`
	LastUsedAt  *string `json:"last_used_at"`
	ExpiresAt   *string `json:"expires_at"`
	RevokedAt   *string `json:"revoked_at"`
}

// appLine returns a line about a connection as of a moment.
func appLine(a auth.App, now time.Time) appJSON {
	state, end := appState(a, now)
	var expires *time.Time // an ended one may keep no secret that could
	if !end.IsZero() {
		expires = &end
	}
	return appJSON{a.ID, a.AccountID, a.Name, a.ClientID, a.RedirectURI, state, adlens.FormatTime(a.InvitedAt), adlens.FormatOptionalTime(a.ConnectedAt), adlens.FormatOptionalTime(a.LastUsedAt), adlens.FormatOptionalTime(expires), adlens.FormatOptionalTime(a.RevokedAt)}
}

// appState names the state of a connection, and says when it ends by itself.
func appState(a auth.App, now time.Time) (state string, expires time.Time) {
	switch {
	case a.ConnectedAt != nil:
		state, expires = "connected", a.Refresh.ExpiresAt
	case a.ClientID != "":
		state, expires = "allowed", a.Code.ExpiresAt // by consent; the assistant fetches its tokens next
	default:
		state, expires = "invited", a.Invite.ExpiresAt
	}
	switch {
	case a.RevokedAt != nil:
		return "revoked", expires
	case !now.Before(expires):
		return "expired", expires
	}
	return state, expires
}

// apps are how connections of assistants are listed and revoked.
var apps = recordKind[auth.App, appJSON]{command: "app", what: "app",
	read: func(ctx context.Context, d *data, account string) ([]auth.App, error) {
		return d.Apps.Apps(ctx, account)
	},
	line:   func(a auth.App) appJSON { return appLine(a, time.Now()) },
	header: "APP ID\tNAME\tCLIENT\tANSWERS GO TO\tSTATE\tINVITED\tCONNECTED\tLAST USED\tEXPIRES\tREVOKED",
	cells: func(l appJSON) []string {
		return []string{l.ID, l.Name, l.ClientID, l.RedirectURI, l.State, l.InvitedAt, orDash(l.ConnectedAt), orDash(l.LastUsedAt), orDash(l.ExpiresAt), orDash(l.RevokedAt)}
	},
	id:   "APP_ID",
	find: func(ctx context.Context, d *data, id string) (auth.App, bool, error) { return d.Apps.AppByID(ctx, id) },
	put:  func(ctx context.Context, d *data, a auth.App) error { return d.Apps.PutApp(ctx, a) },
	end:  func(a *auth.App) **time.Time { return &a.RevokedAt },
	name: func(a auth.App) string {
		return cmp.Or(strings.Join(strings.Fields(a.Name), " "), "an invitation")
	},
	account: func(a auth.App) string { return a.AccountID },
}

func newAppList(o *options) *cobra.Command {
	return apps.newList(o, "List the connections of assistants to an account", `List the connections of assistants to an account, oldest first: invitations and
those that ended too. A state is invited, allowed (a person consented, and the
assistant has not fetched its tokens yet), connected, expired or revoked.

With --json each of data[] has app_id, account_id, name, client_id, redirect_uri
(where the answers go), state, invited_at, connected_at, last_used_at, expires_at
and revoked_at. The name is what the assistant says of itself.`)
}

func newAppRevoke(o *options) *cobra.Command {
	return apps.newRevoke(o, "End the connection of an assistant, or withdraw an invitation", `End the connection of an assistant for good, or withdraw an invitation, by its id,
which adlens app list shows. Running servers refuse its tokens within seconds.
To revoke it again changes nothing.`, "a_k2vmq7x4ta6zj3wd5n8c")
}
