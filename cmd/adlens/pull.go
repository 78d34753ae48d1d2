package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"adlens"
	"adlens/internal/connector"
	"adlens/internal/secret"

	"github.com/spf13/cobra"
)

func newPull(o *options) *cobra.Command {
	var account string
	po, pull := platformOptions{}, connector.PullOptions{}
	cmd := &cobra.Command{
		Use:   "pull --account ID [--days N] [--out DIR]",
		Short: "Fetch the platform's own reports and load them",
		Long: `Ask the platform for an account's reports of the last days up to yesterday,
wait for them, download them and load them. The platform needs minutes, and
hours at times; interrupted, the command goes on with the same reports when it
is started again, and where some failed the next pull fetches those alone. The
files are left in the layout of extracts, with their profiles.json, so that they
can be loaded again anywhere; legacy reports of Sponsored Brands only where lists
of campaigns were loaded or read before, which are not among the files.

Where a marketplace is in another currency than US dollars, rates of the
European Central Bank are fetched first. Reports of days without a rate wait on
the disk: the exit code is 1, and once the rates are there, serve or the next pull
loads the reports without fetching them again. What the platform has no more, and
reports that it never gives a profile, such as Sponsored Brands of authors, are
notices. Campaigns are read as well, unless they were within half an hour: the list
says which of them need legacy reports. A pull of all days that are due counts as
the day's refresh, with --out too: serve does not fetch those days again, and
leaves no files of them in the data directory.

A profile that cannot be read, because the platform no longer lists it or lists it
in another currency, keeps no other from being read: it is named, and the exit code
is 1.`,
		Example: `  adlens pull --account acme --days 14
  adlens pull --account acme --out /srv/extracts/acme`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if pull.Days < 0 {
				return fmt.Errorf("--days is %d; expected 0 (all that are not read for good) or more", pull.Days)
			}
			pull.Kept = filepath.Join(o.extractsDir(), account)
			if pull.Out == "" {
				pull.Out = pull.Kept
			}
			bank, err := po.newBank()
			if err = errors.Join(err, po.checkPace()); err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				o.noteEngine(cmd, d)
				if _, err := d.requireAccount(cmd.Context(), account); err != nil {
					return err
				}
				p := o.newProgress(cmd.ErrOrStderr())
				defer p.endProgress()
				pull.Fetched = p.Fetched
				c := o.newConnector(d, po, d.newLoader(p), secret.ReadKey, p.noticeOf)
				c.Bank = bank
				result, err := c.Pull(cmd.Context(), account, pull)
				if err != nil && len(result.Files) == 0 {
					return err // nothing was loaded that could be told of
				}
				return o.printLoadResult(cmd, account, result, explainFullPull(err))
			})
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the connected account (needed)")
	cmd.Flags().IntVar(&pull.Days, "days", 0, "how many days up to yesterday; 0 is the last 60 and those that were missed, at first all that the platform has: 95 of Sponsored Products (those before the last 65 where none are held), 60 of Brands, 65 of Display")
	cmd.Flags().StringVar(&pull.Out, "out", "", "directory for the extracts (default extracts/ID in the data directory)")
	cmd.Flags().DurationVar(&pull.Poll, "poll", 30*time.Second, "first wait between two looks at a report; it grows")
	po.addRatesFlag(cmd)
	po.addFlags(cmd)
	cmd.MarkFlagRequired("account")
	return cmd
}

// explainFullPull says what can be done about a full disk after a pull of which some files
// were loaded: those that failed may never have been downloaded, so no load has them.
func explainFullPull(err error) error {
	if adlens.KindOf(err) != adlens.DiskFull {
		return err
	}
	return advice{fmt.Errorf("the disk is full: free some space and pull again, which fetches and loads what is missing; what was there is unharmed (%w)", err)}
}
