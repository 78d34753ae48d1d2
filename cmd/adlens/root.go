package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // needSubcommand refuses what is no command
		RunE:          needSubcommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if err := refuseEmptyAccount(cmd); err != nil {
				return err
			}
			return requireFlags(cmd)
		},
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetHelpCommand(newHelp())
	flags := root.PersistentFlags()
	flags.StringVar(&o.dataDir, "data-dir", "adlens-data", "home of the embedded engine, made where it is missing")
	flags.StringVar(&o.clickhouse, "clickhouse", "", "address of an existing ClickHouse server to use instead, like clickhouse://user:password@host:9000/adlens")
	flags.StringVar(&o.reader, "clickhouse-reader", "", "address of the same server and database for a user who may only read, for all that only reads")
	flags.StringVar(&o.ca, "clickhouse-ca", "", "file of the authorities (PEM) that signed the server's certificate; the system's where empty")
	flags.StringVar(&o.cluster, "cluster", "", "name of a cluster that the server's configuration has: accounts are spread over its shards")
	flags.BoolVar(&o.json, "json", false, "print JSON for machines")
	root.AddCommand(newServe(o), newDemo(o), newAccount(o), newKey(o), newFigures(o), newFeed(o), newShare(o), newApp(o), newMCP(o), newLoad(o), newConnect(o), newConnection(o), newPull(o), newGrants(o), newDoctor(o), newBackup(o), newRestore(o), newShards(o), newVersion(o))
	addCompletion(root)
	o.finishCommand(root)
	return root
}

// fromEnvironment sets flags that were not given from their variables.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := envVariable(f.Name)
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil || !hasVariable(f) {
			return
		}
		var invalid *pflag.InvalidValueError
		if setting := flags.Set(f.Name, value); errors.As(setting, &invalid) {
			err = explainValue(name, invalid)
		} else if setting != nil {
			err = fmt.Errorf("%s: %w", name, setting)
		}
		flags.SetAnnotation(f.Name, setByVariable, nil)
	})
	return err
}

// setByVariable marks a flag that was set from its variable.
const setByVariable = "adlens_set_by_variable"

// isOnLine reports whether the command line has a flag.
func isOnLine(f *pflag.Flag) bool {
	_, variable := f.Annotations[setByVariable]
	return f.Changed && !variable
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
