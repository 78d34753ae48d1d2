package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"adlens"
	"adlens/internal/backup"

	"github.com/spf13/cobra"
)

// placeOptions say where backups are.
type placeOptions struct {
	address string
	s3      backup.S3
}

func (po *placeOptions) addFlags(cmd *cobra.Command, name, usage string) {
	cmd.Flags().StringVar(&po.address, name, "", usage+": a directory, or s3://bucket/prefix (needed)")
	cmd.Flags().StringVar(&po.s3.Endpoint, "s3-endpoint", "", "address of an S3-compatible store, like https://minio.example.com:9000; without it Amazon's")
	cmd.Flags().StringVar(&po.s3.Region, "s3-region", "", "region of the bucket, where the store does not tell")
}

// findPlace returns the place, making a directory where create is set.
func (po *placeOptions) findPlace(flag string, create bool) (backup.Place, error) {
	if po.address == "" {
		return nil, fmt.Errorf("--%s is missing; expected a directory or s3://bucket/prefix", flag)
	}
	return backup.Find(po.address, po.s3, create)
}

const credentialsHelp = `The credentials of an S3-compatible store come from AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or from the AWS credentials file
(AWS_SHARED_CREDENTIALS_FILE, with the profile AWS_PROFILE), at Amazon also from the
role of the machine; they are never arguments.`

func newBackup(o *options) *cobra.Command {
	po, keep := &placeOptions{}, 0
	cmd := &cobra.Command{
		Use:   "backup --to PLACE",
		Short: "Copy everything to a directory or an S3-compatible store, and look after such copies",
		Long: `Copy all accounts, with their figures, lists, records, keys, feeds and
connections, to a directory or an S3-compatible store. Servers answer and loads
go on meanwhile; each account is copied as it was at one moment.

Of an account that is damaged the backup has what the last one had of it; it is
named, nothing is removed for --keep, and the exit code is not 0. Where all are
damaged, no backup is made.

A place holds any number of backups. What did not change since an earlier one is
not copied again. A backup that was interrupted is not there, and the next one
goes on with what it had copied.

Of API keys and feeds a backup holds the hashes. The credentials of platform connections
are sealed, and the key that opens them is NOT in the backup: keep secret.key of
the data directory (or your --secret-key-file) in another safe place.

` + credentialsHelp,
		Example: `  adlens backup --to /mnt/backups/adlens --keep 14
  adlens backup --to s3://bucket/adlens
  adlens backup list --from /mnt/backups/adlens
  adlens backup verify --from /mnt/backups/adlens
  adlens restore --from /mnt/backups/adlens`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 0 || cmd.Flags().Changed("keep") && keep == 0 {
				return fmt.Errorf("--keep is %d, expected at least 1", keep)
			}
			return o.takeBackup(cmd, po, keep)
		},
	}
	po.addFlags(cmd, "to", "where the backup goes")
	cmd.Flags().IntVar(&keep, "keep", 0, "how many of the newest backups of this database stay in the place; without it all")
	cmd.AddCommand(newBackupList(o), newBackupVerify(o))
	return cmd
}

func (o *options) takeBackup(cmd *cobra.Command, po *placeOptions, keep int) error {
	if _, err := po.findPlace("to", false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return o.withDatabase(cmd.Context(), func(d *data) error {
		ctx := cmd.Context()
		// Made only now: a user who may not open the database would leave a directory
		// that those who may cannot write to.
		place, err := po.findPlace("to", true)
		if err != nil {
			return err
		}
		schema, err := d.Audit.Applied(ctx)
		if err != nil {
			return err
		}
		expected, err := d.Source.LiveRows(ctx)
		if err != nil && adlens.KindOf(err) != adlens.Damaged { // of an account, which is named below; the others are backed up
			return err
		}
		t := newTransfer(cmd.ErrOrStderr(), expected)
		defer t.clearLine()
		// The wall's clock goes on while a laptop sleeps, and so do deletions.
		now := func() time.Time { return time.Now().Round(0) }
		taken, err := backup.Take(ctx, d.Source, place, backup.Options{Version: version, Schema: schema, Now: now, Keep: keep, Identity: d.Cluster.Identity()}, t)
		t.clearLine()
		if taken.Name == "" {
			return err
		}
		return errors.Join(o.sayTaken(cmd, place, taken, t), err)
	})
}

type takenJSON struct {
	ID       string `json:"backup"`
	Place    string `json:"place"`
	TakenAt  string `json:"taken_at"`
	Version  string `json:"version"`
	Database string `json:"database"` // "" where an earlier version wrote it
	Accounts int    `json:"accounts"`
	Files    int    `json:"files"`
	Rows     uint64 `json:"rows"`
	Stored   int64  `json:"stored_bytes"`
}

func takenLine(place backup.Place, taken backup.Taken) takenJSON {
	line := takenJSON{ID: taken.ID(), Place: place.String(), TakenAt: adlens.FormatTime(taken.TakenAt), Version: taken.Version, Database: taken.Identity, Accounts: len(taken.Accounts)}
	for _, e := range taken.Accounts {
		line.Files, line.Rows, line.Stored = line.Files+e.Files, line.Rows+e.Rows, line.Stored+e.Stored
	}
	return line
}

// describeContents says how much a backup has.
func (t takenJSON) describeContents() string {
	return fmt.Sprintf("%s, %s in %s, %s", adlens.FormatCount(t.Accounts, "account"), adlens.FormatCount(t.Rows, "row"), adlens.FormatCount(t.Files, "file"), formatBytes(t.Stored))
}

func (o *options) sayTaken(cmd *cobra.Command, place backup.Place, taken backup.Taken, t *transfer) error {
	line := takenLine(place, taken)
	said := struct {
		takenJSON
		Copied uint64 `json:"copied_rows"`
	}{line, t.copied}
	return o.printDone(cmd, said, fmt.Sprintf("backup %s in %s: %s; %d rows were new", line.ID, line.Place, line.describeContents(), t.copied))
}

// formatBytes writes bytes for people.
func formatBytes(bytes int64) string {
	const unit = 1000
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	value, name := float64(bytes), ""
	for _, name = range []string{"kB", "MB", "GB", "TB"} {
		if value /= unit; value < unit {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, name)
}

func newBackupList(o *options) *cobra.Command {
	po := &placeOptions{}
	cmd := &cobra.Command{
		Use:   "list --from PLACE",
		Short: "List the backups of a place, the oldest first",
		Long: `List the backups of a place, the oldest first: when each was taken, and how many
accounts, rows, files and bytes it has. No database is needed.`,
		Example: `  adlens backup list --from /mnt/backups/adlens`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := po.findPlace("from", false)
			if err != nil {
				return err
			}
			names, err := backup.List(cmd.Context(), place)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "there is no whole backup in %s\n", place)
			}
			var damage []error
			lines := []takenJSON{}
			for _, name := range names {
				taken, err := backup.ReadIndex(cmd.Context(), place, name)
				if err != nil {
					damage = append(damage, err)
					continue
				}
				lines = append(lines, takenLine(place, taken))
			}
			printed := printLines(o, cmd, lines, "BACKUP\tACCOUNTS\tROWS\tSIZE\tVERSION\tDATABASE", func(l takenJSON) string {
				return joinCells(l.ID, fmt.Sprint(l.Accounts), fmt.Sprint(l.Rows), formatBytes(l.Stored), l.Version, l.Database)
			})
			return errors.Join(printed, errors.Join(damage...))
		},
	}
	po.addFlags(cmd, "from", "where the backups are")
	return cmd
}

func newBackupVerify(o *options) *cobra.Command {
	po, id := &placeOptions{}, ""
	cmd := &cobra.Command{
		Use:   "verify --from PLACE",
		Short: "Read a whole backup and name what is damaged or missing",
		Long: `Read every file of a backup, of the newest one unless another is named, and hold
it against its checksum and its number of rows. No database is needed. The exit
code is 0 only where all of it is as it was written.

To heal a backup, remove the damaged files and back up again.`,
		Example: `  adlens backup verify --from s3://bucket/adlens`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := po.findPlace("from", false)
			if err != nil {
				return err
			}
			taken, err := backup.Choose(cmd.Context(), place, id, "")
			if err != nil {
				return err
			}
			line := takenLine(place, taken)
			t := newTransfer(cmd.ErrOrStderr(), line.Rows)
			faults, err := backup.Verify(cmd.Context(), place, taken, t)
			t.clearLine()
			if err != nil {
				return err
			}
			return o.sayVerified(cmd, line, faults)
		},
	}
	po.addFlags(cmd, "from", "where the backups are")
	cmd.Flags().StringVar(&id, "backup", "", "which one: its id, or how that begins; without it the newest")
	return cmd
}

func (o *options) sayVerified(cmd *cobra.Command, line takenJSON, faults []error) error {
	texts := []string{}
	for _, f := range faults {
		texts = append(texts, replaceControls(f.Error()))
	}
	if o.json {
		err := printJSON(cmd.OutOrStdout(), struct {
			takenJSON
			Faults []string `json:"faults"`
		}{line, texts})
		if err != nil {
			return err
		}
	} else if len(faults) == 0 {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "backup %s is whole: %s\n", line.ID, line.describeContents())
		return err
	}
	for _, text := range texts {
		fmt.Fprintln(cmd.ErrOrStderr(), text)
	}
	if len(faults) > 0 {
		return errSaid
	}
	return nil
}
