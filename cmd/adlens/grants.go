package main

import (
	"crypto/rand"
	"fmt"
	"io"

	"adlens/internal/clickhouse/schema"

	"github.com/spf13/cobra"
)

// grantsOptions are the flags of grants.
type grantsOptions struct{ database, writer, reader string }

func newGrants(o *options) *cobra.Command {
	g := grantsOptions{}
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "Print the statements that make adlens's users on your own ClickHouse server",
		Long: `Print the SQL that makes two users on a ClickHouse server of yours: a writer, who
may make tables in one database and write them, and a reader, who may only
read them. Run the SQL as a user who may make users. New passwords are made each
time; they are in comments at the end, in the variables that adlens takes. So keep
the output in a file that only you can read, and run that one file on every
server: users that exist already keep their passwords. Nothing is connected to or changed.`,
		Example: `  (umask 077; adlens grants > grants.sql)
  clickhouse-client --user admin --ask-password --multiquery < grants.sql
  adlens grants --database figures --writer loading --reader serving`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.printGrants(cmd.OutOrStdout(), o.json) },
	}
	cmd.Flags().StringVar(&g.database, "database", "adlens", "database that the users work in")
	cmd.Flags().StringVar(&g.writer, "writer", "adlens_writer", "name of the user who loads")
	cmd.Flags().StringVar(&g.reader, "reader", "adlens_reader", "name of the user who only reads")
	return cmd
}

func (g grantsOptions) printGrants(w io.Writer, asJSON bool) error {
	for flag, value := range map[string]string{"--database": g.database, "--writer": g.writer, "--reader": g.reader} {
		if value == "" {
			return fmt.Errorf("%s is empty; expected a name", flag)
		}
	}
	if g.writer == g.reader {
		return fmt.Errorf("--writer and --reader are both %q; expected two users", g.writer)
	}
	writer, reader := schema.User{Name: g.writer, Password: rand.Text()}, schema.User{Name: g.reader, Password: rand.Text()}
	statements := schema.Grants(g.database, writer, reader)
	if asJSON {
		return printJSON(w, map[string]any{"statements": statements,
			"clickhouse": writer.Address(g.database), "clickhouse_reader": reader.Address(g.database)})
	}
	for _, statement := range statements {
		if _, err := fmt.Fprintf(w, "%s;\n", statement); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "-- ADLENS_CLICKHOUSE='%s'\n-- ADLENS_CLICKHOUSE_READER='%s'\n", writer.Address(g.database), reader.Address(g.database))
	return err
}
