package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelp is the command that prints the help of another one.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		Long:  `Print the help of a command: what adlens COMMAND --help prints too.`,
		Example: `  adlens help load
  adlens help key create`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if of, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range of.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // whatever variables say
		RunE: func(cmd *cobra.Command, args []string) error {
			of := cmd.Root()
			for i, name := range args {
				next, _, err := of.Find([]string{name})
				if err != nil || next == of {
					return needSubcommand(of, args[i:])
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

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
