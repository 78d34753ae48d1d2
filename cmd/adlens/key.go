package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newKey(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Create, list and revoke API keys", RunE: needSubcommand,
		Long: `Create, list and revoke API keys. A key reads one account; an account can have
any number of them, so give each spreadsheet or script one of its own.`,
		Example: `  adlens key create --account acme --name sheet
  adlens key list --account acme`}
	cmd.AddCommand(newKeyCreate(o), newKeyList(o), newKeyRevoke(o))
	return cmd
}

func newKeyCreate(o *options) *cobra.Command {
	var account, name string
	cmd := &cobra.Command{
		Use:   "create --account ID --name NAME [--expires DATE]",
		Short: "Create an API key and print it, this once",
		Long: `Create an API key and print it, alone on standard output. This is the only time
that it is shown: only its hash is kept. With --expires it is valid to the end
of that day in UTC.`,
		Example: `  adlens key create --account acme --name sheet
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
			return o.withDatabase(cmd.Context(), func(d *data) error {
				key, record, err := d.createKey(cmd.Context(), account, name, end)
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), struct {
						Key string `json:"key"`
						keyJSON
					}{key.Reveal(), keyLine(record)})
				}
				fmt.Fprintln(cmd.OutOrStdout(), key.Reveal())
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account that the key reads (needed)")
	cmd.Flags().StringVar(&name, "name", "", "what the key is for (needed)")
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

// createKey makes and stores a key. Only its hash is kept.
func (d *data) createKey(ctx context.Context, account, name string, expires *time.Time) (auth.Key, auth.Record, error) {
	if err := d.requireAccount(ctx, account); err != nil {
		return auth.Key{}, auth.Record{}, err
	}
	key := auth.NewKey()
	record := auth.Record{
		ID: "k_" + strings.ToLower(rand.Text()[:20]), AccountID: account, Name: name, Start: key.Start(), Hash: key.Hash(),
		Scopes: []string{auth.ScopeRead}, CreatedAt: time.Now().UTC().Truncate(time.Millisecond), ExpiresAt: expires,
	}
	return key, record, d.Keys.PutKey(ctx, record)
}

type keyJSON struct {
	ID         string   `json:"key_id"`
	Name       string   `json:"name"`
	Start      string   `json:"start"`
	Scopes     []string `json:"scopes"`
	CreatedAt  string   `json:"created_at"`
	LastUsedAt *string  `json:"last_used_at"`
	ExpiresAt  *string  `json:"expires_at"`
	RevokedAt  *string  `json:"revoked_at"`
}

func keyLine(r auth.Record) keyJSON {
	return keyJSON{r.ID, r.Name, r.Start, r.Scopes, formatTime(r.CreatedAt), orNull(r.LastUsedAt), orNull(r.ExpiresAt), orNull(r.RevokedAt)}
}

func orNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := formatTime(*t)
	return &text
}

func newKeyList(o *options) *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:   "list --account ID",
		Short: "List the keys of an account",
		Long: `List the keys of an account, the revoked and expired ones included: their ids,
first characters, and when each was last used. With --json each of data[] has
key_id, name, start, scopes, created_at, last_used_at, expires_at and revoked_at.`,
		Example: `  adlens key list --account acme`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				return printRecords(o, cmd, d, account, d.Keys.Keys, keyLine, "KEY ID\tNAME\tSTART\tCREATED\tLAST USED\tEXPIRES\tREVOKED", func(l keyJSON) []string {
					return []string{l.ID, l.Name, l.Start, l.CreatedAt, orDash(l.LastUsedAt), orDash(l.ExpiresAt), orDash(l.RevokedAt)}
				})
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account (needed)")
	cmd.MarkFlagRequired("account")
	return cmd
}

func newKeyRevoke(o *options) *cobra.Command {
	keys := revocable[auth.Record]{what: "key", list: "key list",
		find: func(ctx context.Context, d *data, id string) (auth.Record, bool, error) {
			return d.Keys.KeyByID(ctx, id)
		},
		put:  func(ctx context.Context, d *data, r auth.Record) error { return d.Keys.PutKey(ctx, r) },
		end:  func(r *auth.Record) **time.Time { return &r.RevokedAt },
		line: func(r auth.Record) (string, any) { return r.Name, keyLine(r) },
	}
	return &cobra.Command{
		Use:   "revoke KEY_ID",
		Short: "Revoke a key; running servers refuse it within seconds",
		Long: `Revoke a key for good, by its id, which adlens key list shows. Running servers
refuse it within seconds. To revoke it again changes nothing.`,
		Example: `  adlens key revoke k_6yq3mzn5xw2a7tbd4c8f`,
		Args:    oneArgument("KEY_ID"),
		RunE:    func(cmd *cobra.Command, args []string) error { return keys.revoke(o, cmd, args[0]) },
	}
}
