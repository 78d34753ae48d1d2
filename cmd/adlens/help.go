package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "ADLENS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// hasVariable tells whether a flag can be given as a variable: all can but
// those that only show something.
func hasVariable(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// finish gives a command, and all below it, what each has alike: variables in
// the help of flags, and completion of their values.
func (o *options) finish(cmd *cobra.Command) {
	own := cmd.LocalNonPersistentFlags()
	own.AddFlagSet(cmd.PersistentFlags())
	own.VisitAll(func(f *pflag.Flag) {
		if hasVariable(f) {
			f.Usage += " [" + variable(f.Name) + "]"
		}
	})
	o.completeFlags(cmd)
	for _, sub := range cmd.Commands() {
		o.finish(sub)
	}
}
