package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envVariable is the environment variable of a flag.
func envVariable(flag string) string {
	return "ADLENS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// hasVariable reports whether a flag can be given as a variable: all can but
// those that only show something.
func hasVariable(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// finishCommand gives a command, and all below it, what each has alike: variables in
// the help of flags, and completion of their values.
func (o *options) finishCommand(cmd *cobra.Command) {
	own := cmd.LocalNonPersistentFlags()
	own.AddFlagSet(cmd.PersistentFlags())
	own.VisitAll(func(f *pflag.Flag) {
		if hasVariable(f) {
			f.Usage += " [" + envVariable(f.Name) + "]"
		}
	})
	o.completeFlags(cmd)
	for _, sub := range cmd.Commands() {
		o.finishCommand(sub)
	}
}
