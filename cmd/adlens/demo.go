package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/demo"

	"github.com/spf13/cobra"
)

// demoAccount is the id of the demonstration account, demoKey the name of its keys, and
// demoExtracts the directory of its files.
const (
	demoAccount  = "demo"
	demoKey      = "demo"
	demoExtracts = "demo-extracts"
)

func newDemo(o *options) *cobra.Command {
	so := &serveOptions{platform: platformOptions{pace: 1}} // which has no flags here
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Make a demonstration account, load it and serve it",
		Long: `Write three years of made-up extracts in the platform's own formats below the
data directory, load them as any extracts, print a key and curl lines, and
serve. Running it again keeps the account, and brings it up to date; the key that
it printed before is revoked. It refuses where an account demo was added
otherwise than with --demo.

The key and the lines go to standard output, all else to standard error. Other
accounts of the data directory are served too.`,
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
	// Better now than after the load and the end of the last key, without a new one printed.
	if err := so.checkValues(); err != nil {
		return err
	}
	if listener, err := listenOn("--listen", so.listen); err != nil {
		return err
	} else if err := listener.Close(); err != nil {
		return err
	}
	if err := d.demoAccount(ctx, trouble); err != nil {
		return err
	}
	dir := filepath.Join(o.dataDir, demoExtracts)
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
	fmt.Fprintln(trouble, describeCounts(demoAccount, result))
	if result.Refused() > 0 {
		return errSaid
	}
	key, err := d.renewDemoKey(ctx)
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

// demoAccount adds the demonstration account where it is missing. An account that has its
// id and was added without --demo gets no made-up figures.
func (d *data) demoAccount(ctx context.Context, out io.Writer) error {
	there, _, err := d.addAccount(ctx, adlens.Account{ID: demoAccount, Name: "Demonstration", IsDemo: true,
		Subscription: adlens.Subscriptions[0], CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}, false, out)
	if err == nil && !there.IsDemo {
		err = fmt.Errorf("account %q is there, and is no demonstration: nothing was written; use another --data-dir", demoAccount)
	}
	return err
}

// renewDemoKey makes a key of the demonstration, and revokes those that it made
// before: of a key only its hash is kept, so an old one cannot be shown again.
func (d *data) renewDemoKey(ctx context.Context) (auth.Key, error) {
	all, err := d.Keys.Keys(ctx, demoAccount)
	if err != nil {
		return auth.Key{}, err
	}
	key, _, err := d.createKey(ctx, auth.Record{AccountID: demoAccount, Name: demoKey})
	if err != nil {
		return auth.Key{}, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, old := range all {
		if old.Name != demoKey || old.RevokedAt != nil {
			continue
		}
		old.RevokedAt = &now
		if err := d.Keys.PutKey(ctx, old); err != nil {
			return auth.Key{}, err
		}
	}
	return key, nil
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
		curl(answer.APIPath + "/summary?range=last_30_days"),
		curl(answer.APIPath + "/reports/products?range=all_time&ad_products=SPONSORED_PRODUCTS&sort=sales&page_size=5"),
	}, "\n"))
	return err
}
