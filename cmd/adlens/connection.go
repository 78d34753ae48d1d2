package main

import (
	"context"
	"fmt"
	"strings"

	"adlens"

	"github.com/spf13/cobra"
)

func newConnection(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "connection",
		Short: "List and remove an account's connections to the ad platform",
		Long: `List and remove an account's connections to the ad platform. Each is a login of
one region, through which some profiles are read; adlens connect makes them.`,
		Example: `  adlens connection list --account acme
  adlens connection remove --account acme --name NA`,
		RunE: needSubcommand,
	}
	cmd.AddCommand(newConnectionList(o), newConnectionRemove(o))
	return cmd
}

type connectionJSON struct {
	Account     string   `json:"account_id"`
	Name        string   `json:"name"`
	Region      string   `json:"region"`
	ClientID    string   `json:"client_id"`
	State       string   `json:"state"`
	ConnectedAt string   `json:"connected_at"`
	Profiles    []string `json:"profiles"`
	Chosen      []string `json:"chosen"`
	Untaken     []string `json:"untaken"`
}

func connectionLine(c adlens.Connection) connectionJSON {
	state := "refused"
	switch {
	case c.Removed:
		state = "removed"
	case c.Accepted:
		state = "accepted"
	}
	chosen := append(append([]string{}, c.Choice.Profiles...), c.Choice.Countries...)
	return connectionJSON{c.Account, c.Name, c.Region, c.ClientID, state, adlens.FormatTime(c.ConnectedAt), append([]string{}, c.Profiles...), chosen, append([]string{}, c.Untaken...)}
}

// connections are how connections are listed.
var connections = recordKind[adlens.Connection, connectionJSON]{command: "connection",
	read: func(ctx context.Context, d *data, account string) ([]adlens.Connection, error) {
		return d.Connections.Connections(ctx, account)
	},
	line:   connectionLine,
	header: "NAME\tREGION\tCLIENT\tSTATE\tCONNECTED\tPROFILES\tCHOSEN\tNOT TAKEN",
	cells: func(l connectionJSON) []string {
		return []string{l.Name, l.Region, l.ClientID, l.State, l.ConnectedAt, strings.Join(l.Profiles, ","), strings.Join(l.Chosen, ","), strings.Join(l.Untaken, ",")}
	},
}

func newConnectionList(o *options) *cobra.Command {
	return connections.newList(o, "List the connections of an account to the ad platform", `List the connections of an account to the ad platform: which profiles belong to
each, which were chosen, and which the platform lists since and were not taken
because they may be of another advertiser. A state is accepted or refused: what
the platform made of the credentials the last time.

With --json each of data[] has account_id, name, region, client_id, state,
connected_at, profiles, chosen (profiles or countries, empty where nothing was
chosen) and untaken. A connection of an earlier version has no profiles until the platform
is asked the next time; those that are held count as its own meanwhile.`)
}

func newConnectionRemove(o *options) *cobra.Command {
	var account, name string
	cmd := &cobra.Command{
		Use:   "remove --account ID --name NAME",
		Short: "Remove a connection; what was read through it stays held",
		Long: `Remove a connection of an account to the ad platform, with its credentials.
What was read through it stays held and readable; it is refreshed no more, which
adlens doctor says. Running servers stop reading through it within seconds; a
report that is on its way may still be loaded. Consent given at the platform ends
only there.

With --json it prints the connection as adlens connection list does, in the state
removed.`,
		Example: `  adlens connection remove --account acme --name NA`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				removed, err := d.removeConnection(cmd.Context(), o, account, name)
				if err != nil {
					return err
				}
				return o.printDone(cmd, connectionLine(removed), fmt.Sprintf("connection %s of account %s is removed; what is held of its profiles stays readable and is refreshed no more: %s",
					name, account, strings.Join(removed.Profiles, ", ")))
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account (needed)")
	cmd.Flags().StringVar(&name, "name", "", "the connection, as adlens connection list shows it (needed)")
	cmd.MarkFlagRequired("account")
	cmd.MarkFlagRequired("name")
	return cmd
}

// removeConnection removes a connection, which needs neither its secrets nor the
// platform.
func (d *data) removeConnection(ctx context.Context, o *options, account, name string) (adlens.Connection, error) {
	if _, err := d.requireAccount(ctx, account); err != nil {
		return adlens.Connection{}, err
	}
	return o.newConnector(d, platformOptions{}, nil, nil, nil).Remove(ctx, account, name)
}
