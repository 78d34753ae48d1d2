package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/query"

	"github.com/spf13/cobra"
)

type shardJSON struct {
	Number   uint16  `json:"shard"`
	Address  string  `json:"address"`
	Accounts int     `json:"accounts"`
	Rows     *uint64 `json:"fact_rows"`
	Bytes    *uint64 `json:"bytes_on_disk"`
}

var errNoCluster = errors.New("there are no shards without --cluster")

func newShards(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "shards",
		Short: "List the shards of a cluster, and what each of them has",
		Long: `List the shards of the cluster that --cluster names: how many accounts each has,
and how many rows of facts and bytes on its disk. With --json each of data[] has
shard, address, accounts, fact_rows and bytes_on_disk; the last two are null of a shard
that cannot be asked, of which the error is.

An account is whole on one shard. New accounts are spread over all shards by
their ids; adlens account move brings one to another. A shard that is new to the
cluster is empty until then.`,
		Example: `  adlens shards --clickhouse clickhouse://user:password@host:9000/adlens --cluster ads
  adlens account move acme --shard 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				all, err := d.Audit.Shards(cmd.Context())
				if len(all) == 0 {
					return cmp.Or(err, errNoCluster)
				}
				lines := make([]shardJSON, len(all))
				for i, s := range all {
					lines[i] = shardJSON{Number: s.Number, Address: s.Address, Accounts: s.Accounts}
					if s.Held != nil {
						lines[i].Rows, lines[i].Bytes = &s.Held.Rows, &s.Held.Bytes
					}
				}
				return errors.Join(err, printLines(o, cmd, lines, "SHARD\tADDRESS\tACCOUNTS\tFACT ROWS\tON DISK", func(l shardJSON) string {
					rows, bytes := "-", "-"
					if l.Rows != nil {
						rows, bytes = strconv.FormatUint(*l.Rows, 10), formatBytes(int64(*l.Bytes))
					}
					return fmt.Sprintf("%d\t%s\t%d\t%s\t%s", l.Number, l.Address, l.Accounts, rows, bytes)
				}))
			})
		},
	}
}

func newAccountMove(o *options) *cobra.Command {
	to, lost := 0, false
	cmd := &cobra.Command{
		Use:   "move ID --shard N",
		Short: "Bring an account to another shard of a cluster",
		Long: `Bring an account to another shard of a cluster. Servers go on answering; loads
of the account wait. All its rows are copied, compared with the old ones column by
column and against themselves, and only then the account is read at its new
place. That waits 40 seconds where the account was loaded in the last minutes
before: requests may still be reading what the load replaced. Three quarters of a
minute later, when no request can still be reading at the old place, and the new
rows were compared once more, what is left there is deleted. If that has a newer
load, it is kept, and the move says so.

A move that was interrupted has changed nothing, or only left something to
delete: the same command goes on, and repeats no harm. After the account has its
new place, the command goes on for four seconds, also after Ctrl-C: until then a
server may load at the old one; while rows are copied, for 40 seconds, in which the
shard may still write what it was sent; where a deletion fails, for 20. A move back
to a shard that still has the account first waits as long as one that deletes.

With --lost an account begins again without figures, lists and records, or with what an
earlier move has left on the shard: its own shard was lost and another server is in its
place, or was put back as it was before the account's loads, or left the list, and no
backup has the account. Its name, keys, links and connections stay. Load its extracts
again; connections read again what the platform still has.`,
		Example: `  adlens account move acme --shard 2
  adlens account move acme --shard 1 --lost`,
		Args:              accountArgument,
		ValidArgsFunction: o.completeAccounts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error { return o.moveAccount(cmd, d, args[0], to, lost) })
		},
	}
	cmd.Flags().IntVar(&to, "shard", 0, "number of the shard, as adlens shards lists it (needed)")
	cmd.Flags().BoolVar(&lost, "lost", false, "give up what the account's lost shard had of it")
	cmd.MarkFlagRequired("shard")
	return cmd
}

func (o *options) moveAccount(cmd *cobra.Command, d *data, account string, to int, lost bool) (err error) {
	ctx := cmd.Context()
	if !d.Cluster.IsSharded() {
		return errNoCluster
	}
	if all := len(d.Cluster.Shards()); to < 1 || to > all {
		return fmt.Errorf("--shard %d is none of the cluster's shards; expected 1 to %d", to, all)
	}
	if _, err := d.requireAccount(ctx, account); err != nil {
		return err
	}
	t := newTransfer(cmd.ErrOrStderr(), 0)
	defer t.clearLine()
	release, err := d.locker.Lock(ctx, account, func(holder string) { t.Notice("waiting for the account's writer: " + holder) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if lost {
		newest, err := d.Sink.GiveUp(ctx, account, uint16(to), time.Sleep)
		if err != nil {
			return err
		}
		what := "load its extracts again"
		if newest > 0 {
			what = fmt.Sprintf("it has its load %d, which a move had left there: load what came later again", newest)
		}
		return o.printDone(cmd, map[string]any{"account_id": account, "shard": to, "newest_load": newest}, fmt.Sprintf("account %s is on shard %d; %s", account, to, what))
	}
	t.Account(account, 0, 1)
	rows, err := d.Mover.Move(ctx, account, uint16(to), t.Rows)
	t.clearLine()
	if err != nil {
		return d.explainMove(ctx, account, err)
	}
	return o.printDone(cmd, map[string]any{"account_id": account, "shard": to, "copied_rows": rows},
		fmt.Sprintf("account %s is on shard %d; %d rows were copied", account, to, rows))
}

// explainMove adds to the error of a move what a person can do about a disk that is full: what
// was copied by then is deleted by a move to where the account is.
func (d *data) explainMove(ctx context.Context, account string, err error) error {
	if adlens.KindOf(err) != adlens.DiskFull {
		return err
	}
	at, _, unread := d.Cluster.Placements().Read(ctx, query.Text(account))
	if unread != nil {
		return errors.Join(err, unread)
	}
	return advice{fmt.Errorf("a disk is full: free some space and repeat the move; or have what was copied deleted, adlens account move %s --shard %d (%w)", account, at, err)}
}
