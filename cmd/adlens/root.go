package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by release builds.
var version = "dev"

// options are the flags that every command has.
type options struct {
	dataDir    string
	clickhouse string // address of a server that is not ours
	reader     string // its address for all that only reads
	ca         string // file of the authorities of its certificate
	cluster    string // its name there
	json       bool
}

func newRoot() *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use:   "adlens",
		Short: "Read an advertising account: exact figures from the platform's own extracts, over HTTP",
		Long: `adlens loads the ad platform's extracts and answers spend, sales, ACOS, ROAS,
clicks and orders over HTTP. It brings its own ClickHouse, which lives in the
data directory, or uses an existing server.

Every flag can be given as an environment variable too: --data-dir as
ADLENS_DATA_DIR, and so on. A flag wins over its variable.

Where something seems wrong, adlens doctor looks for it.`,
		Example: `  adlens demo                                   see it work with a made-up account
  adlens account add acme --name "Acme Ltd"     begin with your own
  adlens load --account acme extracts/
  adlens key create --account acme --name sheet
  adlens serve`,
		Version:           version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&o.dataDir, "data-dir", "adlens-data", "home of the embedded engine, made where it is missing")
	flags.StringVar(&o.clickhouse, "clickhouse", "", "address of an existing ClickHouse server to use instead, like clickhouse://user:password@host:9000/adlens")
	flags.StringVar(&o.reader, "clickhouse-reader", "", "address of the same server and database for a user who may only read, for all that only reads")
	flags.StringVar(&o.ca, "clickhouse-ca", "", "file of the authorities (PEM) that signed the server's certificate; the system's where empty")
	flags.StringVar(&o.cluster, "cluster", "", "name of a cluster that the server's configuration has: accounts are spread over its shards")
	flags.BoolVar(&o.json, "json", false, "print JSON for machines")
	root.AddCommand(newServe(o), newDemo(o), newAccount(o), newKey(o), newFeed(o), newApp(o), newMCP(o), newLoad(o), newConnect(o), newConnection(o), newPull(o), newGrants(o), newDoctor(o), newBackup(o), newRestore(o), newShards(o))
	addCompletion(root)
	o.finishCommand(root)
	return root
}

// needSubcommand is what a command does that is only a group of others.
func needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return fmt.Errorf("unknown command %q for %q; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
}

// oneArgument and some are the arguments of commands that need one thing of a name, or
// at least one.
func oneArgument(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%q is one argument too many; expected %s alone (a name with spaces needs quotes)", args[1], name)
		}
		return someArguments(name)(cmd, args)
	}
}

func someArguments(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing; see %s --help", name, cmd.CommandPath())
		}
		return nil
	}
}

// fromEnvironment sets flags that were not given from their variables.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := envVariable(f.Name)
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil || !hasVariable(f) {
			return
		}
		if setting := flags.Set(f.Name, value); setting != nil {
			err = fmt.Errorf("%s: %w", name, setting)
		}
	})
	return err
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
