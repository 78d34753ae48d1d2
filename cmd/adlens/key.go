package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newKey(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Create, list, rotate and revoke API keys", RunE: needSubcommand,
		Long: `Create, list, rotate and revoke API keys. A key reads one account; an account can have
any number of them, so give each spreadsheet or script one of its own.`,
		Example: `  adlens key create --account acme --name sheet
  adlens key list --account acme`}
	cmd.AddCommand(newKeyCreate(o), newKeyList(o), newKeyRotate(o), newKeyRevoke(o))
	return cmd
}

func newKeyCreate(o *options) *cobra.Command {
	var account, name, marketplaces string
	var own auth.Quotas
	cmd := &cobra.Command{
		Use:   "create --account ID --name NAME [--marketplaces US,UK] [--limit-minute N] [--expires DATE]",
		Short: "Create an API key and print it, this once",
		Long: `Create an API key and print it, alone on standard output. This is the only time
that it is shown: only its hash is kept. With --expires it is valid to the end
of that day in UTC.

With --marketplaces it reads those alone. All others of the account are unknown to
it, with their campaigns, ids, days and counts, and so are marketplaces that are
connected later, unless a country code covers them.

With --limit-minute or --limit-day it has a limit of its own within the account's:
both count, and the tighter one holds. So one client leaves room for the others.`,
		Example: `  adlens key create --account acme --name sheet
  adlens key create --account acme --name "UK agency" --marketplaces UK --limit-minute 20
  KEY=$(adlens key create --account acme --name report --expires 2027-03-31)`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			end, err := endOf(cmd.Flag("expires"), time.Now())
			if err != nil {
				return err
			}
			if strings.TrimSpace(name) == "" {
				return fmt.Errorf("the name is empty; expected what the key is for")
			}
			if err := checkOwnLimits(cmd, own); err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				only, err := d.ownMarketplaces(cmd.Context(), cmd, account, marketplaces)
				if err != nil {
					return err
				}
				key, record, err := d.createKey(cmd.Context(), auth.Record{AccountID: account, Name: name, ExpiresAt: end, Marketplaces: only, Limits: own})
				if err != nil {
					return err
				}
				return o.printKey(cmd, key, record)
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that the key reads (needed)")
	cmd.Flags().StringVar(&name, "name", "", "what the key is for (needed)")
	addMarketplaces(cmd, &marketplaces)
	addOwnLimits(cmd, &own)
	cmd.Flags().String("expires", "", fmt.Sprintf("last day, YYYY-MM-DD in UTC, on which the key is valid; %s at the latest, for ever without", lastExpiry))
	cmd.MarkFlagRequired("account")
	cmd.MarkFlagRequired("name")
	return cmd
}

// lastExpiry is the last day after which an instant follows that the driver of
// the database can write: it counts nanoseconds in 64 bits.
var lastExpiry = adlens.Date(2262, time.April, 10)

// endOf returns the first instant after the day of --expires, nil where it was
// not given.
func endOf(flag *pflag.Flag, now time.Time) (*time.Time, error) {
	if !flag.Changed {
		return nil, nil
	}
	day := flag.Value.String()
	last, err := adlens.ParseDay(day)
	if err != nil {
		return nil, fmt.Errorf("--expires: %w", err)
	}
	if last > lastExpiry {
		return nil, fmt.Errorf("--expires: %s is later than can be kept; expected a day up to %s", day, lastExpiry)
	}
	end := (last + 1).Time()
	if !end.After(now) {
		return nil, fmt.Errorf("--expires: %s has passed; expected today (%s in UTC) or a later day", day, adlens.DayOf(now.UTC()))
	}
	return &end, nil
}

// createKey makes and stores a key for what a record says of its account, its name
// and its bounds. Only its hash is kept.
func (d *data) createKey(ctx context.Context, record auth.Record) (auth.Key, auth.Record, error) {
	if _, err := d.requireAccount(ctx, record.AccountID); err != nil {
		return auth.Key{}, auth.Record{}, err
	}
	key := auth.NewKey()
	record.ID, record.Start, record.Hash = newID("k_"), key.Start(), key.Hash()
	record.Scopes, record.CreatedAt = []string{auth.ScopeRead}, time.Now().UTC().Truncate(time.Millisecond)
	return key, record, d.Keys.PutKey(ctx, record)
}

// printKey prints a key that was just made: alone, or with what is kept of it.
func (o *options) printKey(cmd *cobra.Command, key auth.Key, record auth.Record) error {
	if o.json {
		return explainUnprinted("key", record.ID, printJSON(cmd.OutOrStdout(), struct {
			Key string `json:"key"`
			keyJSON
		}{key.Reveal(), keyLine(record)}))
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), key.Reveal())
	return explainUnprinted("key", record.ID, err)
}

// explainUnprinted says of a key or link that was made and could not be printed how to
// revoke it: its secret is shown this once.
func explainUnprinted(command, id string, err error) error {
	if err == nil {
		return nil
	}
	return advice{fmt.Errorf("%s %s is valid, but could not be printed and is never shown again; revoke it with adlens %s revoke %s, and make another: %w", command, id, command, id, err)}
}

type keyJSON struct {
	ID      string   `json:"key_id"`
	Account string   `json:"account_id"`
	Name    string   `json:"name"`
	Start   string   `json:"start"`
	Scopes  []string `json:"scopes"`
	// Marketplaces is null for all of the account's.
	Marketplaces []string `json:"marketplaces"`
	// The limits are null where it has none of its own.
	LimitMinute *int    `json:"limit_minute"`
	LimitDay    *int    `json:"limit_day"`
	CreatedAt   string  `json:"created_at"`
	LastUsedAt  *string `json:"last_used_at"`
	ExpiresAt   *string `json:"expires_at"`
	RevokedAt   *string `json:"revoked_at"`
	// Successor is the id of the key that replaces it, null without one.
	Successor *string `json:"successor"`
}

func keyLine(r auth.Record) keyJSON {
	return keyJSON{r.ID, r.AccountID, r.Name, r.Start, r.Scopes, r.Marketplaces, unlessZero(r.Limits.Minute), unlessZero(r.Limits.Day),
		adlens.FormatTime(r.CreatedAt), adlens.FormatOptionalTime(r.LastUsedAt), adlens.FormatOptionalTime(r.ExpiresAt), adlens.FormatOptionalTime(r.RevokedAt), unlessZero(r.Successor)}
}

// unlessZero is nil for a value that says nothing.
func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// keys are how keys are listed, found and revoked.
var keys = recordKind[auth.Record, keyJSON]{command: "key", what: "key",
	read: func(ctx context.Context, d *data, account string) ([]auth.Record, error) {
		return d.Keys.Keys(ctx, account)
	},
	line:   keyLine,
	header: "KEY ID\tNAME\tSTART\tMARKETPLACES\tA MINUTE\tA DAY\tCREATED\tLAST USED\tEXPIRES\tREVOKED\tSUCCESSOR",
	cells: func(l keyJSON) []string {
		return []string{l.ID, l.Name, l.Start, allOr(l.Marketplaces), orDash(l.LimitMinute), orDash(l.LimitDay), l.CreatedAt, orDash(l.LastUsedAt), orDash(l.ExpiresAt), orDash(l.RevokedAt), orDash(l.Successor)}
	},
	id: "KEY_ID",
	find: func(ctx context.Context, d *data, id string) (auth.Record, bool, error) {
		return d.Keys.KeyByID(ctx, id)
	},
	put:  func(ctx context.Context, d *data, r auth.Record) error { return d.Keys.PutKey(ctx, r) },
	end:  func(r *auth.Record) **time.Time { return &r.RevokedAt },
	name: func(r auth.Record) string { return r.Name }, account: func(r auth.Record) string { return r.AccountID },
}

func newKeyList(o *options) *cobra.Command {
	return keys.newList(o, "List the keys of an account", `List the keys of an account, the revoked and expired ones included: their ids,
first characters, and when each was last used. With --json each of data[] has
key_id, account_id, name, start, scopes, marketplaces (null for all), limit_minute
and limit_day (null without one of its own), created_at, last_used_at, expires_at,
revoked_at, and successor, the key that replaces it.`)
}

func newKeyRevoke(o *options) *cobra.Command {
	return keys.newRevoke(o, "Revoke a key; running servers refuse it within seconds", `Revoke a key for good, by its id, which adlens key list shows. Running servers
refuse it within seconds. To revoke it again changes nothing.`, "k_6yq3mzn5xw2a7tbd4c8f")
}
