package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// printRecords prints the keys, feed links or connections of an account: a line
// of JSON for each, or a row of a table below its header.
func printRecords[T, L any](o *options, cmd *cobra.Command, d *data, account string, read func(context.Context, string) ([]T, error), line func(T) L, header string, cells func(L) []string) error {
	if err := d.requireAccount(cmd.Context(), account); err != nil {
		return err
	}
	all, err := read(cmd.Context(), account)
	if err != nil {
		return err
	}
	lines := make([]L, len(all))
	for i, one := range all {
		lines[i] = line(one)
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"data": lines})
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	for _, l := range lines {
		row := cells(l)
		for i, cell := range row { // a tab or a line feed in a name would begin another cell
			row[i] = cmp.Or(strings.Join(strings.Fields(cell), " "), "-")
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// revocable is what can be revoked by its id, as keys, feed links and connections
// are.
type revocable[T any] struct {
	what string // in messages
	list string // the command that shows the ids
	find func(ctx context.Context, d *data, id string) (T, bool, error)
	put  func(ctx context.Context, d *data, one T) error
	end  func(one *T) **time.Time // when it was revoked
	line func(one T) (name string, json any)
}

// revoke revokes one for good. One that is revoked stays as it is.
func (r revocable[T]) revoke(o *options, cmd *cobra.Command, id string) error {
	return o.withDatabase(cmd.Context(), func(d *data) error {
		one, found, err := r.find(cmd.Context(), d, id)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("there is no %s %q; adlens %s --account ID shows the ids", r.what, id, r.list)
		}
		if end := r.end(&one); *end == nil {
			now := time.Now().UTC().Truncate(time.Millisecond)
			*end = &now
			if err := r.put(cmd.Context(), d, one); err != nil {
				return err
			}
		}
		name, line := r.line(one)
		if o.json {
			return printJSON(cmd.OutOrStdout(), line)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s) is revoked\n", r.what, id, name)
		return nil
	})
}
