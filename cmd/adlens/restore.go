package main

import (
	"fmt"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/clickhouse/schema"

	"github.com/spf13/cobra"
)

func newRestore(o *options) *cobra.Command {
	po, id, account := &placeOptions{}, "", ""
	cmd := &cobra.Command{
		Use:   "restore --from PLACE",
		Short: "Copy a backup into an empty data directory or database, or over a damaged account",
		Long: `Copy a backup, the newest one unless another is named, into an empty data
directory or into an empty database of a ClickHouse server, wherever it was taken
from: this is also the way from the one to the other.

Checksums and numbers of rows are checked, totals are derived again and compared
with the figures, and only then the accounts appear, all at once. A restore that
was interrupted has shown nothing; the same command begins again.

With --account, an account that is damaged is put right in its place, by the newest
backup of this database unless another is named: nothing of it is answered until
all of it is back, and the same command repeats a restore that was interrupted.
Keys, links and connections stay as they are, and what was lost of them comes back:
revoked, or named, where its last change was lost, which may have been its end.
Figures, lists and records are those of the backup, unless they are whole: reports
that were loaded since are named, as far as that is left. Load them again. Of a
cluster that lost its shard, the account goes to another one.

A whole backup, and an account that was missing, bring back subscriptions, keys,
links and connections, of assistants and to the platform, as of the backup's time.
Cancel, revoke and remove again what was canceled, revoked or removed since: it
works. Invite again assistants that connected or refreshed since, as each does every
hour: they are refused.

Platform connections need the key that their credentials were sealed with, which
is not in a backup: copy secret.key into the data directory, give it to serve by
--secret-key-file, or connect again.

` + credentialsHelp,
		Example: `  adlens restore --from /mnt/backups/adlens --data-dir new-data
  adlens restore --from s3://bucket/adlens --clickhouse clickhouse://user@host:9000/adlens
  adlens restore --from /mnt/backups/adlens --account acme    missing or damaged`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := po.findPlace("from", false)
			if err != nil {
				return err
			}
			if account == "" || id != "" { // before a data directory is made
				if _, err := backup.Choose(cmd.Context(), place, id, ""); err != nil {
					return err
				}
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				o.noteEngine(cmd, d)
				identity := ""
				if account != "" { // its figures are those of its own database
					identity = d.Cluster.Identity()
				}
				taken, err := backup.Choose(cmd.Context(), place, id, identity)
				if err != nil {
					return err
				}
				return o.restoreBackup(cmd, d, place, taken, account)
			})
		},
	}
	po.addFlags(cmd, "from", "where the backups are")
	cmd.Flags().StringVar(&id, "backup", "", "which one: its id, or how that begins; without it the newest")
	cmd.Flags().StringVar(&account, "account", "", "restore this account alone, where it is missing or damaged")
	return cmd
}

func (o *options) restoreBackup(cmd *cobra.Command, d *data, place backup.Place, taken backup.Taken, account string) error {
	// A shard that was lost has no schema; those that are there have this one.
	newest, err := schema.Newest()
	if err != nil {
		return err
	}
	var expected uint64
	for _, e := range taken.Accounts {
		if account == "" || e.Account == account {
			expected += e.Rows
		}
	}
	earlier, err := backup.EarlierAccounts(cmd.Context(), place, taken)
	if err != nil {
		return err
	}
	t := newTransfer(cmd.ErrOrStderr(), expected)
	restored, err := backup.Restore(cmd.Context(), place, taken, d.Sink,
		backup.Restoring{Account: account, Schema: newest, Earlier: earlier, Lock: d.locker.Lock}, t)
	t.clearLine()
	if err != nil {
		return err
	}
	taken.Accounts = restored
	line := takenLine(place, taken)
	what := adlens.FormatCount(line.Accounts, "account")
	if account != "" {
		what = "account " + account
	}
	said := struct {
		takenJSON
		Account *string `json:"account_id"` // null where all were restored
	}{line, unlessZero(account)}
	return o.printDone(cmd, said, fmt.Sprintf("restored %s, %s, from backup %s in %s", what, adlens.FormatCount(line.Rows, "row"), line.ID, line.Place))
}
