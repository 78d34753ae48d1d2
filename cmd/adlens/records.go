package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// recordKind is what an account has several of, such as keys or feed links: how they
// are listed, and found and revoked by their ids. L is a line of JSON about one.
type recordKind[T, L any] struct {
	command string // that has list and revoke
	what    string // in messages
	read    func(ctx context.Context, d *data, account string) ([]T, error)
	line    func(one T) L
	header  string // of the columns of the list
	cells   func(line L) []string

	// Only of those that have ids.
	id   string // what one is called in usage, such as KEY_ID
	find func(ctx context.Context, d *data, id string) (T, bool, error)
	put  func(ctx context.Context, d *data, one T) error
	end  func(one *T) **time.Time // when it was revoked
	name func(one T) string
	// account returns the account that one is of: a person who has its id alone may not know.
	account func(one T) string
}

// newList makes the command that lists those of an account.
func (k recordKind[T, L]) newList(o *options, short, long string) *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:     "list --account ID",
		Short:   short,
		Long:    long,
		Example: "  adlens " + k.command + " list --account acme",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withDatabase(cmd.Context(), func(d *data) error { return k.printAll(o, cmd, d, account) })
		},
	}
	cmd.Flags().StringVar(&account, "account", "", "the account (needed)")
	cmd.MarkFlagRequired("account")
	return cmd
}

// newRevoke makes the command that revokes one by its id.
func (k recordKind[T, L]) newRevoke(o *options, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke " + k.id,
		Short:   short,
		Long:    long,
		Example: "  adlens " + k.command + " revoke " + example,
		Args:    oneArgument(k.id),
		RunE:    func(cmd *cobra.Command, args []string) error { return k.revoke(o, cmd, args[0]) },
	}
}

// printAll prints those of an account: a line of JSON for each, or a row of a table
// below its header.
func (k recordKind[T, L]) printAll(o *options, cmd *cobra.Command, d *data, account string) error {
	if _, err := d.requireAccount(cmd.Context(), account); err != nil {
		return err
	}
	all, err := k.read(cmd.Context(), d, account)
	if err != nil {
		return err
	}
	lines := make([]L, len(all))
	for i, one := range all {
		lines[i] = k.line(one)
	}
	return printLines(o, cmd, lines, k.header, func(l L) string {
		return joinCells(k.cells(l)...)
	})
}

// joinCells makes a row of a table. A tab or a line feed in a name would begin another
// cell or row.
func joinCells(cells ...string) string {
	for i, cell := range cells {
		cells[i] = cmp.Or(strings.Join(strings.Fields(cell), " "), "-")
	}
	return strings.Join(cells, "\t")
}

// printLines prints lines as JSON, or as a table with tabs between the cells of a row.
func printLines[L any](o *options, cmd *cobra.Command, lines []L, header string, row func(L) string) error {
	if o.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"data": lines})
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	for _, l := range lines {
		fmt.Fprintln(table, row(l))
	}
	return table.Flush()
}

// printDone prints what was done: a line of JSON, or a sentence.
func (o *options) printDone(cmd *cobra.Command, line any, done string) error {
	if o.json {
		return explainDone(done, printJSON(cmd.OutOrStdout(), line))
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), done)
	return explainDone(done, err)
}

// explainDone says of what was done that it is, where it could not be printed.
func explainDone(done string, err error) error {
	if err == nil {
		return nil
	}
	return advice{fmt.Errorf("%s; this could not be printed: %w", done, err)}
}

// newID makes an id that is not known yet and no secret.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:20]) }

// lock finds one by its id. No other command changes it until it is released. The holder
// of the lock, where there is one, is written to out.
func (k recordKind[T, L]) lock(ctx context.Context, d *data, id string, out io.Writer) (one T, release func() error, err error) {
	_, found, err := k.find(ctx, d, id)
	if err != nil {
		return one, nil, err
	}
	if !found {
		return one, nil, fmt.Errorf("there is no %s %q; adlens %s list --account ID shows the ids", k.what, id, k.command)
	}
	if release, err = d.locker.Lock(ctx, k.what+"/"+id, waitsFor(out, "the "+k.what)); err != nil {
		return one, nil, err
	}
	if one, _, err = k.find(ctx, d, id); err != nil { // as the last holder of the lock left it
		release()
	}
	return one, release, err
}

// waitsFor returns what reports the holder of a lock that a command waits for.
func waitsFor(out io.Writer, what string) func(holder string) {
	return func(holder string) { fmt.Fprintf(out, "waiting for %s: %s\n", what, holder) }
}

// revoke revokes one for good. One that is revoked stays as it is, and is stored again: a
// command before may have failed between the change and its seal.
func (k recordKind[T, L]) revoke(o *options, cmd *cobra.Command, id string) error {
	return o.withDatabase(cmd.Context(), func(d *data) error {
		one, release, err := k.lock(cmd.Context(), d, id, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		defer release()
		if end := k.end(&one); *end == nil {
			now := time.Now().UTC().Truncate(time.Millisecond)
			*end = &now
		}
		if err := k.put(cmd.Context(), d, one); err != nil {
			return err
		}
		done := fmt.Sprintf("%s %s (%s) of account %s is revoked", k.what, id, k.name(one), k.account(one))
		return o.printDone(cmd, k.line(one), done)
	})
}

// allOr joins values with commas; nil is "all".
func allOr(values []string) string {
	if values == nil {
		return "all"
	}
	return strings.Join(values, ",")
}

func orDash[T any](value *T) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprint(*value)
}
