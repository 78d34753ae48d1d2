package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/spf13/cobra"
)

// The overlap of a key with its successor: a day lets every script that runs daily
// take the new one. After a year a key is not being replaced any more.
const (
	usualOverlap = 24 * time.Hour
	mostOverlap  = 366 * 24 * time.Hour
)

// rereadPatience is how long an interrupted command looks for what it has stored.
const rereadPatience = 10 * time.Second

func newKeyRotate(o *options) *cobra.Command {
	overlap := usualOverlap
	cmd := &cobra.Command{
		Use:   "rotate KEY_ID [--overlap 24h]",
		Short: "Replace a key by a new one, which is printed this once",
		Long: `Replace a key by a new one for the same account, with its name, marketplaces,
limits and last day. The new key is printed, alone on standard output, this once.

The old key stays valid for the overlap, so that its clients can be given the new
one without a failure; with --overlap 0 it ends now. Until then each of the two has
the limits of its own. adlens key list shows both.`,
		Example: `  KEY=$(adlens key rotate k_6yq3mzn5xw2a7tbd4c8f)
  adlens key rotate k_6yq3mzn5xw2a7tbd4c8f --overlap 0`,
		Args: oneArgument("KEY_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if overlap < 0 || overlap > mostOverlap {
				return fmt.Errorf("--overlap %s: expected 0 to %s, like 24h", overlap, mostOverlap)
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				old, release, err := keys.lock(cmd.Context(), d, args[0], cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				defer release()
				key, successor, old, err := d.rotateKey(cmd.Context(), old, overlap, time.Now())
				if err != nil {
					return err
				}
				return o.printRotated(cmd, key, successor, old)
			})
		},
	}
	cmd.Flags().DurationVar(&overlap, "overlap", usualOverlap, "for how long the old key stays valid, like 24h or 90m; 0 ends it now")
	return cmd
}

// rotateKey makes and stores a successor, and then the end of the old key, of which it
// returns what is stored now. The caller holds the lock of the old key; what is stored is
// read again, because a server's lock may be lost, its store leaves a key as it is that
// was revoked, and an end whose storing failed or was interrupted may be stored all the
// same, before that look or after it.
func (d *data) rotateKey(ctx context.Context, old auth.Record, overlap time.Duration, now time.Time) (key auth.Key, successor, ended auth.Record, err error) {
	switch {
	case old.RevokedAt != nil:
		return key, successor, old, fmt.Errorf("key %s was revoked at %s and cannot be replaced; create another", old.ID, adlens.FormatTime(*old.RevokedAt))
	case old.Successor != "":
		return key, successor, old, fmt.Errorf("key %s was replaced by %s; rotate that one", old.ID, old.Successor)
	case !old.ValidAt(now):
		return key, successor, old, fmt.Errorf("key %s expired at %s and cannot be replaced; create another", old.ID, adlens.FormatTime(*old.ExpiresAt))
	}
	key, successor, err = d.createKey(ctx, auth.Record{AccountID: old.AccountID, Name: old.Name, ExpiresAt: old.ExpiresAt, Marketplaces: old.Marketplaces, Limits: old.Limits})
	if err != nil {
		return key, successor, old, err
	}
	ended = old
	ended.Successor = successor.ID
	if end := now.Add(overlap).UTC().Truncate(time.Millisecond); overlap == 0 {
		ended.RevokedAt = &end
	} else if ended.ExpiresAt == nil || end.Before(*ended.ExpiresAt) {
		ended.ExpiresAt = &end
	}
	failed := d.Keys.PutKey(ctx, ended)
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), rereadPatience)
	defer cancel()
	stored, _, err := d.Keys.KeyByID(reading, old.ID)
	stored.LastUsedAt = old.LastUsedAt
	if err == nil && failed != nil && reflect.DeepEqual(keyLine(stored), keyLine(ended)) {
		_ = d.Keys.PutKey(reading, ended) // it may have failed before its seal, which later changes make up for
	}
	switch {
	case err != nil, failed != nil && reflect.DeepEqual(keyLine(stored), keyLine(old)):
		return key, successor, old, advice{fmt.Errorf("it is not known whether the end of key %s is stored, now or in a moment; its successor %s was not shown: adlens key rotate %s --overlap 0 prints another; where key list shows %s valid, revoke it once its clients have that one: %w", old.ID, successor.ID, successor.ID, old.ID, cmp.Or(err, failed))}
	case !reflect.DeepEqual(keyLine(stored), keyLine(ended)):
		successor.RevokedAt = new(now.UTC().Truncate(time.Millisecond))
		if err := d.Keys.PutKey(ctx, successor); err != nil {
			return key, successor, stored, advice{fmt.Errorf("key %s was changed meanwhile, and its successor %s could not be revoked (revoke it): %w", old.ID, successor.ID, err)}
		}
		return key, successor, stored, fmt.Errorf("key %s was revoked or replaced meanwhile; its successor %s is revoked, and key list shows what holds", old.ID, successor.ID)
	}
	return key, successor, ended, nil
}

// printRotated prints the new key alone; what becomes of the old one goes to standard
// error.
func (o *options) printRotated(cmd *cobra.Command, key auth.Key, successor, old auth.Record) error {
	if o.json {
		return explainUnprinted("key", successor.ID, printJSON(cmd.OutOrStdout(), struct {
			Key string `json:"key"`
			keyJSON
			Replaces keyJSON `json:"replaces"`
		}{key.Reveal(), keyLine(successor), keyLine(old)}))
	}
	end := "is revoked"
	if old.RevokedAt == nil {
		end = "ends at " + adlens.FormatTime(*old.ExpiresAt)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "key %s (%s) of account %s %s; its successor is %s\n", old.ID, old.Name, old.AccountID, end, successor.ID)
	return o.printKey(cmd, key, successor)
}
