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

// hasVariable reports whether a flag can be given as a variable: all can but those
// that only show something, and those whose name another command's flag has.
func hasVariable(f *pflag.Flag) bool {
	_, none := f.Annotations[ownVariable]
	return f.Name != "help" && f.Name != "version" && !none
}

// finishCommand gives a command, and all below it, what each has alike: variables in
// the help of flags, completion of their values, and the errors about arguments.
func (o *options) finishCommand(cmd *cobra.Command) {
	own := cmd.LocalNonPersistentFlags()
	own.AddFlagSet(cmd.PersistentFlags())
	own.VisitAll(func(f *pflag.Flag) {
		if hasVariable(f) {
			f.Usage += " [" + envVariable(f.Name) + "]"
		}
	})
	if cmd.Args != nil {
		cmd.Args = explainArguments(cmd.Args)
	}
	o.completeFlags(cmd)
	for _, sub := range cmd.Commands() {
		o.finishCommand(sub)
	}
}
