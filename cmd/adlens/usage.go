package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adlens/internal/query"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command-line errors are written here, in one form for all commands:
// the value as it was given, and what was expected.

// explainFlag describes an error in a flag. The libraries' own words name their
// functions and not what a person can do.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var alone *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var malformed *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		given, meant := "--"+unknown.GetSpecifiedName(), ""
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			given = "-" + letters
		} else if near := query.Nearest(unknown.GetSpecifiedName(), flagNames(cmd)); near != "" {
			meant = ", did you mean --" + near + "?"
		}
		return fmt.Errorf("%s is no flag of %s%s; see %s --help", quoteOdd(given), cmd.CommandPath(), meant, cmd.CommandPath())
	case errors.As(err, &alone):
		return fmt.Errorf("--%s has no value; expected %s", alone.GetFlag().Name, expectedValue(alone.GetFlag(), nil))
	case errors.As(err, &invalid):
		return explainValue("--"+invalid.GetFlag().Name, invalid)
	case errors.As(err, &malformed):
		return fmt.Errorf("%s is no flag; expected --name VALUE or --name=VALUE; see %s --help", quoteOdd(malformed.GetSpecifiedFlag()), cmd.CommandPath())
	}
	return err
}

// explainValue describes an error in a value, by the name of its flag or
// variable.
func explainValue(name string, err *pflag.InvalidValueError) error {
	return fmt.Errorf("%s is %q; expected %s", name, err.GetValue(), expectedValue(err.GetFlag(), err.Unwrap()))
}

// expectedValue describes the values that a flag takes, after the error of one
// that it does not.
func expectedValue(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "int":
		if errors.Is(err, strconv.ErrRange) {
			return "a whole number of at most 18 digits"
		}
		return "a whole number, like 60"
	case "duration":
		return "a time with its unit, like 5s, 10m or 24h"
	case "bool":
		return "true or false"
	}
	return f.Usage
}

// quoteOdd quotes what holds more than a flag's name does.
func quoteOdd(given string) string {
	if strings.TrimLeft(given, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" {
		return given
	}
	return strconv.Quote(given)
}

// flagNames are the names of all flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// requireFlags fails where flags that a command needs have no value, neither
// given nor by their variables.
func requireFlags(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, needed := f.Annotations[cobra.BashCompOneRequiredFlag]; needed && !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	})
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is missing; see %s --help", missing[0], cmd.CommandPath())
	}
	last := len(missing) - 1
	return fmt.Errorf("%s and %s are missing; see %s --help", strings.Join(missing[:last], ", "), missing[last], cmd.CommandPath())
}

// refuseEmptyAccount fails where an account is given without an id, as by a shell's variable
// that is not set: a command that needs none would take it for all accounts.
func refuseEmptyAccount(cmd *cobra.Command) error {
	f := cmd.Flags().Lookup("account")
	if f == nil || !f.Changed || f.Value.String() != "" {
		return nil
	}
	name := "--account"
	if !isOnLine(f) {
		name = envVariable(f.Name)
	}
	return fmt.Errorf("%s is empty; expected the id of an account, as adlens account list shows it", name)
}

// needSubcommand is what a command does that is only a group of others.
func needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	meant := ""
	if near := query.Nearest(args[0], names); near != "" {
		meant = ", did you mean " + near + "?"
	}
	return fmt.Errorf("%q is no command of %s%s; see %s --help", args[0], cmd.CommandPath(), meant, cmd.CommandPath())
}

// oneArgument and someArguments are the arguments of commands that need one thing
// of a name, or at least one.
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

// explainArguments has a command that takes no arguments (cobra.NoArgs) say so.
// The others say what they expect themselves.
func explainArguments(takes cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := takes(cmd, args)
		if err != nil && cmd.HasSubCommands() {
			return needSubcommand(cmd, args)
		}
		if err != nil && takes(cmd, nil) == nil {
			return fmt.Errorf("%q is one argument too many; %s takes none; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
		}
		return err
	}
}
