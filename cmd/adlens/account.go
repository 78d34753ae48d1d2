package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/clickhouse/audit"

	"github.com/spf13/cobra"
)

func newAccount(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "account", Short: "Add, change, list and move accounts", RunE: needSubcommand,
		Long: `Add, change, list and move accounts. An account is one advertiser: extracts are loaded
for it, keys read it alone, and limits hold for it over all of its keys.`,
		Example: `  adlens account add acme --name "Acme Ltd"
  adlens account list`}
	cmd.AddCommand(newAccountAdd(o), newAccountSet(o), newAccountList(o), newAccountMove(o))
	return cmd
}

var accountForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func newAccountAdd(o *options) *cobra.Command {
	a, recall := adlens.Account{}, false
	cmd := &cobra.Command{
		Use:   "add ID --name NAME",
		Short: "Add an account",
		Long: `Add an account. Commands name it by its id, which its keys can read: 1 to 64
letters, digits, dots, dashes and underscores. It answers in every subscription
but canceled.

While a backup is being restored the command waits. After a restore that did not
end it refuses an account of which that left something, and any account where none
is there yet: run that restore again first.

With --recall it takes over what is stored of an account with this id that the
directory does not know any more, as after an older copy of the first shard's disk
was put back, and that no backup has; else adlens restore --account brings it back,
with its name, keys and links.`,
		Example: `  adlens account add acme --name "Acme Ltd"
  adlens account add trial-7 --name "Lamps & Co" --subscription trialing
  adlens account add acme --name "Acme Ltd" --recall`,
		Args: accountArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.ID, a.CreatedAt = args[0], time.Now().UTC().Truncate(time.Millisecond)
			if err := checkAccount(a); err != nil {
				return err
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				there, added, err := d.addAccount(cmd.Context(), a, recall, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if !added {
					return fmt.Errorf("account %q exists already; change it with: adlens account set %s", there.ID, there.ID)
				}
				return o.printAccount(cmd, a)
			})
		},
	}
	cmd.Flags().StringVar(&a.Name, "name", "", "what people call the account (needed)")
	cmd.Flags().BoolVar(&a.IsDemo, "demo", false, "mark it as a demonstration")
	cmd.Flags().StringVar(&a.Subscription, "subscription", adlens.Subscriptions[0], "one of "+strings.Join(adlens.Subscriptions, ", "))
	cmd.Flags().BoolVar(&recall, "recall", false, "take over what a shard has of an account that the directory forgot")
	cmd.MarkFlagRequired("name")
	return cmd
}

func newAccountSet(o *options) *cobra.Command {
	var name, subscription string
	cmd := &cobra.Command{
		Use:   "set ID [--name NAME] [--subscription STATUS]",
		Short: "Change the name or subscription of an account",
		Long: `Change the name or the subscription of an account. Running servers notice within
seconds. A canceled account keeps its data, and answers /api/v1/account alone.`,
		Example: `  adlens account set acme --subscription canceled
  adlens account set acme --name "Acme Limited"`,
		Args:              accountArgument,
		ValidArgsFunction: o.completeAccounts,
		RunE: func(cmd *cobra.Command, args []string) error {
			named, stated := cmd.Flags().Changed("name"), cmd.Flags().Changed("subscription")
			if !named && !stated {
				return fmt.Errorf("nothing to change; give --name or --subscription")
			}
			return o.withDatabase(cmd.Context(), func(d *data) error {
				// Of two who change different things at once, neither undoes what
				// the other did. A load does not hold this lock.
				release, err := d.locker.Lock(cmd.Context(), "account/"+args[0], waitsFor(cmd.ErrOrStderr(), "the account"))
				if err != nil {
					return err
				}
				defer release()
				a, err := d.requireAccount(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if named {
					a.Name = name
				}
				if stated {
					a.Subscription = subscription
				}
				if err := checkAccount(a); err != nil {
					return err
				}
				if err := d.Accounts.PutAccount(cmd.Context(), a); err != nil {
					return err
				}
				return o.printAccount(cmd, a)
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call the account")
	cmd.Flags().StringVar(&subscription, "subscription", "", "one of "+strings.Join(adlens.Subscriptions, ", "))
	return cmd
}

// addAccount adds an account, or returns the one that has its id. No restore runs
// meanwhile, and none that was interrupted has left anything of it, nor an older copy of the
// directory: an account would have that as its own, and the rest would never be restored. What
// the directory forgot is taken over where recall is set.
func (d *data) addAccount(ctx context.Context, a adlens.Account, recall bool, out io.Writer) (there adlens.Account, added bool, err error) {
	// One that is there waits for nothing.
	there, found, err := d.Accounts.Account(ctx, a.ID)
	if err != nil || found {
		return there, false, err
	}
	restored, err := d.locker.Lock(ctx, backup.LockName, waitsFor(out, "a restore"))
	if err != nil {
		return there, false, err
	}
	defer restored()
	// Of two who add the same account at once, one is told.
	release, err := d.locker.Lock(ctx, a.ID, waitsFor(out, "the account"))
	if err != nil {
		return there, false, err
	}
	defer release()
	if there, found, err = d.Accounts.Account(ctx, a.ID); err != nil || found {
		return there, false, err
	}
	if err := d.requireNoRestore(ctx, a.ID, recall); err != nil {
		return there, false, err
	}
	return a, true, d.Accounts.PutAccount(ctx, a)
}

// requireNoRestore makes sure that nothing is left of an account, of a restore that has begun
// and not come to its end or otherwise, and that none may go on: that of all accounts goes on
// until one is shown. What an older copy of the directory forgot is placed where its loads are,
// where recall is set.
func (d *data) requireNoRestore(ctx context.Context, account string, recall bool) error {
	began, err := d.Sink.Began(ctx, account)
	if err != nil {
		return err
	}
	look := d.Sink.Left
	if began == "" {
		look = d.Sink.LeftUnknown
	}
	left, err := look(ctx, account)
	if err != nil {
		return err
	}
	if began == "" && len(left) > 0 {
		has, err := d.Sink.HasLoads(ctx, account)
		switch {
		case err != nil:
			return err
		case recall && has:
			return d.Sink.Recall(ctx, account)
		case recall: // of a load that never became visible
			return d.Sink.Clear(ctx, account, backup.LockName)
		}
		return fmt.Errorf("there is no account %q, and rows of it in the tables %s, as where an older copy of the disk was put back: adlens restore --from PLACE --account %s brings it back; where no backup has it, repeat this with --recall; or choose another id",
			account, strings.Join(left, ", "), account)
	}
	if began == "" {
		return nil
	}
	shown, err := d.Sink.Shown(ctx, "")
	if err != nil || len(left) == 0 && len(shown) > 0 {
		return err
	}
	return fmt.Errorf("a restore of the backup %s did not end, and account %q may be in it: run the same adlens restore again, or use a new data directory or database", began, account)
}

func (o *options) printAccount(cmd *cobra.Command, a adlens.Account) error {
	return o.printDone(cmd, accountLine(a), fmt.Sprintf("account %s: %s, %s", a.ID, a.Name, a.Subscription))
}

// accountArgument is the argument of commands that need the id of an account.
func accountArgument(cmd *cobra.Command, args []string) error {
	if err := oneArgument("ID")(cmd, args); err != nil {
		return err
	}
	if !accountForm.MatchString(args[0]) {
		return fmt.Errorf("%q is no account id; expected 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first", args[0])
	}
	return nil
}

func checkAccount(a adlens.Account) error {
	if strings.TrimSpace(a.Name) == "" {
		return fmt.Errorf("the name is empty; expected what people call the account")
	}
	if !slices.Contains(adlens.Subscriptions, a.Subscription) {
		return fmt.Errorf("%q is no subscription status; expected one of %s", a.Subscription, strings.Join(adlens.Subscriptions, ", "))
	}
	return nil
}

type accountJSON struct {
	ID           string `json:"account_id"`
	Name         string `json:"name"`
	IsDemo       bool   `json:"is_demo"`
	Subscription string `json:"subscription_status"`
	CreatedAt    string `json:"created_at"`
}

func accountLine(a adlens.Account) accountJSON {
	return accountJSON{a.ID, a.Name, a.IsDemo, a.Subscription, adlens.FormatTime(a.CreatedAt)}
}

// listedJSON is an account as account list shows it. What is null was never loaded.
type listedJSON struct {
	accountJSON
	NewestDay *string `json:"newest_day"`
	LastLoad  *string `json:"last_load"`
}

func listedLine(a adlens.Account, loaded audit.Loaded) listedJSON {
	line := listedJSON{accountJSON: accountLine(a)}
	if loaded.NewestDay != 0 {
		line.NewestDay = new(loaded.NewestDay.String())
	}
	line.LastLoad = adlens.FormatOptionalTime(unlessZero(loaded.LastLoad))
	return line
}

func newAccountList(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the accounts, and how far each is loaded",
		Long: `List the accounts of the data directory by their ids, with the newest day of their
figures and when something was last loaded: figures, or rates and lists, which serve
reads too; a restore counts, and a load that changed nothing does not.

With --json each of data[] has account_id, name, is_demo, subscription_status,
created_at, newest_day and last_load (null where there is none). Where a shard
cannot be read, those of its accounts are null too, and standard error says so.`,
		Example: `  adlens account list
  adlens account list --json | jq -r '.data[].account_id'
  adlens account list --json | jq -r '.data[]
    | select(.subscription_status != "canceled" and (.is_demo | not)
      and .newest_day < (now - 2*86400 | todate[:10])) | .account_id'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error {
				all, err := d.Accounts.Accounts(cmd.Context())
				if err != nil {
					return err
				}
				loaded, err := d.Audit.Loaded(cmd.Context())
				if isInterrupted(cmd.Context(), err) {
					return err
				}
				if err != nil { // the accounts themselves are known
					fmt.Fprintf(cmd.ErrOrStderr(), "not all newest days and last loads could be read: %v\n", err)
				}
				lines := make([]listedJSON, len(all))
				for i, a := range all {
					lines[i] = listedLine(a, loaded[a.ID])
				}
				return printLines(o, cmd, lines, "ID\tNAME\tSUBSCRIPTION\tCREATED\tNEWEST DAY\tLAST LOAD", func(l listedJSON) string {
					return joinCells(l.ID, l.Name, l.Subscription, l.CreatedAt, orDash(l.NewestDay), orDash(l.LastLoad))
				})
			})
		},
	}
}
