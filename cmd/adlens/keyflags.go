package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

// addMarketplaces adds the flag that narrows a key or a link to marketplaces.
func addMarketplaces(cmd *cobra.Command, marketplaces *string) {
	cmd.Flags().StringVar(marketplaces, "marketplaces", "", "countries or marketplace ids, like US,UK: all others stay unknown; all of them without")
}

// ownVariable marks a flag that has no environment variable.
const ownVariable = "adlens_no_variable"

// addOwnLimits adds the flags of a key's own limits. They have no variables: those of
// these names are of the account's limits, which serve holds.
func addOwnLimits(cmd *cobra.Command, own *auth.Quotas) {
	cmd.Flags().IntVar(&own.Minute, "limit-minute", 0, "requests of this key in any 60 seconds, within the account's limit; none without")
	cmd.Flags().IntVar(&own.Day, "limit-day", 0, "requests of this key in a UTC day, within the account's limit; none without")
	for _, name := range []string{"limit-minute", "limit-day"} {
		cmd.Flags().SetAnnotation(name, ownVariable, nil)
	}
}

// checkOwnLimits refuses limits that a key cannot have. Whether one is below the
// account's shows where both are held: the tighter one counts.
func checkOwnLimits(cmd *cobra.Command, own auth.Quotas) error {
	for _, limit := range []struct {
		name  string
		value int
	}{{"limit-minute", own.Minute}, {"limit-day", own.Day}} {
		if cmd.Flag(limit.name).Changed && (limit.value < 1 || limit.value > maxOwnLimit) {
			return fmt.Errorf("--%s %d: expected a number from 1 to %d; leave it out for no limit of its own", limit.name, limit.value, maxOwnLimit)
		}
	}
	return nil
}

// maxOwnLimit is far above what any account is let in.
const maxOwnLimit = 1_000_000_000

// ownMarketplaces reads --marketplaces as the filter of the same name is read: nil is
// all of the account's, those to come included. One that is not connected is refused,
// because a typing error would make a key that sees nothing.
func (d *data) ownMarketplaces(ctx context.Context, cmd *cobra.Command, account, text string) ([]string, error) {
	if !cmd.Flag("marketplaces").Changed {
		return nil, nil
	}
	if _, err := d.requireAccount(ctx, account); err != nil {
		return nil, err
	}
	view, err := d.Figures.View(ctx, account)
	if err != nil {
		return nil, err
	}
	var texts []string
	for one := range strings.SplitSeq(text, ",") {
		texts = append(texts, strings.TrimSpace(one))
	}
	if slices.Contains(texts, "") {
		return nil, fmt.Errorf("--marketplaces %q: expected country codes or marketplace ids, with commas between them", text)
	}
	only, faults := query.ParseMarketplaces(view, texts)
	if len(faults) > 0 {
		return nil, fmt.Errorf("--marketplaces: %s", faults[0].Detail)
	}
	return only, nil
}
