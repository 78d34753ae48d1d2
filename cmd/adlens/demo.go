package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"adlens"
	"adlens/internal/demo"

	"github.com/spf13/cobra"
)

// demoAccount is the id of the demonstration account.
const demoAccount = "demo"

func newDemo(o *options) *cobra.Command {
	so := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Make a demonstration account, load it and serve it",
		Long: `Write three years of made-up extracts in the platform's own formats below the
data directory, load them as any extracts, print a key and curl lines, and
serve. Running it again keeps the account, and brings it up to date.`,
		Example: `  adlens demo
  adlens demo --listen 127.0.0.1:0 --data-dir my-demo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withUnwatchedDatabase(cmd.Context(), func(d *data) error { return o.runDemo(cmd, d, *so) })
		},
	}
	so.addFlags(cmd, "warn")
	return cmd
}

func (o *options) runDemo(cmd *cobra.Command, d *data, so serveOptions) error {
	ctx, trouble := cmd.Context(), cmd.ErrOrStderr()
	began := time.Now()
	if err := d.demoAccount(ctx); err != nil {
		return err
	}
	dir := filepath.Join(o.dataDir, "demo-extracts")
	fmt.Fprintf(trouble, "writing extracts to %s\n", dir)
	p := o.newProgress(trouble)
	_, err := demo.Write(dir, demo.Options{Today: time.Now().UTC(), Written: p.Written})
	p.endProgress()
	if err != nil {
		return err
	}
	fmt.Fprintln(trouble, "loading them")
	result, err := d.loadFiles(ctx, demoAccount, []string{dir}, o.newProgress(trouble), "", time.Time{})
	if err != nil {
		return err
	}
	printTrouble(trouble, result)
	printCounts(trouble, result)
	if result.Refused() > 0 {
		return errSaid
	}
	key, _, err := d.createKey(ctx, demoAccount, "demo", nil)
	if err != nil {
		return err
	}
	return o.runServer(ctx, d, so, func(address string) error {
		fmt.Fprintf(trouble, "ready after %s; Ctrl-C stops it\n", time.Since(began).Round(100*time.Millisecond))
		if o.json {
			return printJSON(cmd.OutOrStdout(), map[string]string{"address": address, "key": key.Reveal()})
		}
		return printQuickstart(cmd.OutOrStdout(), address, key.Reveal())
	})
}

func (d *data) demoAccount(ctx context.Context) error {
	_, found, err := d.Accounts.Account(ctx, demoAccount)
	if err != nil || found {
		return err
	}
	return d.Accounts.PutAccount(ctx, adlens.Account{ID: demoAccount, Name: "Demonstration", IsDemo: true,
		Subscription: adlens.Subscriptions[0], CreatedAt: time.Now().UTC().Truncate(time.Millisecond)})
}

// printQuickstart prints lines that work as they stand.
func printQuickstart(w io.Writer, address, key string) error {
	curl := func(path string) string {
		return fmt.Sprintf("curl -H 'Authorization: Bearer %s' '%s%s'", key, address, path)
	}
	_, err := fmt.Fprintln(w, strings.Join([]string{
		"adlens answers at " + address,
		"the key of the demonstration account: " + key,
		"",
		curl("/api/v1/summary?range=last_30_days"),
		curl("/api/v1/reports/products?range=all_time&sort=sales&page_size=5"),
	}, "\n"))
	return err
}
