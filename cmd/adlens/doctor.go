package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"adlens/internal/answer"
	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/doctor"
	"adlens/internal/engine"
	"adlens/internal/secret"

	"github.com/spf13/cobra"
)

func newDoctor(o *options) *cobra.Command {
	po, examine, redis := platformOptions{}, doctor.Options{}, ""
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine an installation and say what to do about what is found",
		Long: `Examine the data directory, the engine, what is stored, clocks, keys, and the
connection to the platform, and say what to do about each finding.

Every rollup is added up again from its facts and compared to the last digit,
which reads all that is held: seconds for a million rows. --quick leaves that
out. Each account takes some 40 statements besides, with --quick nearly as many,
however little it has, and each of its links one or two: of many accounts --account
examines one sooner. Nothing is changed, and a running server is not in the way;
where no engine runs, one is started for as long as the examination takes.

The exit code is 0 where nothing failed; warnings alone do not change it. With
--json it prints account (the one that is examined alone, else null) and checks[],
of which each has check, status (ok, warning, failed), detail, advice and account.`,
		Example: `  adlens doctor
  adlens doctor --account acme --quick
  adlens doctor --json | jq '.checks[] | select(.status != "ok")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.requireNamed(); err != nil {
				return err
			}
			p := o.newProgress(cmd.ErrOrStderr())
			examine.Added = p.Added
			findings, err := doctor.Examine(cmd.Context(), o.newInstallation(po, redis), examine)
			p.endProgress()
			if err != nil {
				return err
			}
			return o.sayFindings(cmd, examine.Account, findings)
		},
	}
	cmd.Flags().StringVar(&examine.Account, "account", "", "examine this account alone")
	cmd.Flags().BoolVar(&examine.Quick, "quick", false, "leave out reading every row: count them")
	cmd.Flags().StringVar(&redis, "redis", "", "Redis that servers share the limits through, to see whether it can count")
	po.secretFlag(cmd)
	return cmd
}

// newInstallation is what the flags name.
func (o *options) newInstallation(po platformOptions, redis string) doctor.Installation {
	none := &data{Database: &clickhouse.Database{}} // whether a secret can be read needs none
	in := doctor.Installation{Version: version, Redis: redis, Extracts: o.extractsDir(), Open: o.openUnmigrated, Now: time.Now, Deadline: answer.Timeout,
		CheckKey: po.checkKey, CanOpen: o.newConnector(none, po, nil, secret.ReadKey, nil).CanOpen, RefusalOf: refusalOf}
	if o.clickhouse == "" {
		in.DataDir = o.dataDir
	} else if remote, err := o.remoteServer(); err == nil { // Open says what is wrong with an address
		in.Remote = remote.Database()
	}
	return in
}

// openUnmigrated opens the database as it is, without bringing its schema up to date.
func (o *options) openUnmigrated(ctx context.Context) (*clickhouse.Database, doctor.Locks, func() error, error) {
	if o.clickhouse != "" {
		remote, err := o.remoteServer()
		if err != nil {
			return nil, nil, nil, err
		}
		db := clickhouse.Look(remote)
		if o.cluster != "" {
			if db, err = clickhouse.LookCluster(ctx, remote, o.cluster); err != nil {
				return nil, nil, nil, remote.Explain(err)
			}
		}
		if err := db.Cluster.Ping(ctx); err != nil {
			return nil, nil, nil, errors.Join(remote.Explain(err), db.Close())
		}
		return db, cluster.Leases{Cluster: db.Cluster}, db.Close, nil
	}
	e, err := engine.Open(ctx, o.dataDir)
	if err != nil {
		return nil, nil, nil, err
	}
	d := &data{Database: clickhouse.Look(conn.Embedded{Engine: e}), engine: e}
	return d.Database, engine.Locks{DataDir: o.dataDir}, d.Close, nil
}

// sayFindings prints what was found, of one account or, where it is "", of all, and fails
// where something has failed.
func (o *options) sayFindings(cmd *cobra.Command, account string, findings []doctor.Finding) error {
	var err error
	if o.json {
		err = printJSON(cmd.OutOrStdout(), map[string]any{"account": unlessZero(account), "checks": findings})
	} else {
		out, coloured := colourTerminal(cmd.OutOrStdout(), os.Getenv("NO_COLOR"))
		table := findingsTable(findings, coloured)
		if account != "" { // which a variable may have chosen
			table = fmt.Sprintf("of the accounts, only %s is examined\n%s", replaceControls(account), table)
		}
		_, err = fmt.Fprint(out, table)
	}
	if err == nil && doctor.Worst(findings) == doctor.Failed {
		return errSaid
	}
	return err
}
