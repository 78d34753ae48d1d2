package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands are all commands that people see, by their path below adlens.
func commands() map[string]*cobra.Command {
	root := newRoot()
	root.InitDefaultHelpCmd()
	all := map[string]*cobra.Command{}
	var add func(*cobra.Command)
	add = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		all[strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "adlens"), " ")] = cmd
		for _, sub := range cmd.Commands() {
			if sub.Name() != "help" {
				add(sub)
			}
		}
	}
	add(root)
	return all
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for path, cmd := range commands() {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || strings.Contains(cmd.Short, "\n") {
			t.Errorf("%q: want a line about it without a full stop, got %q", path, cmd.Short)
		}
		if len(cmd.Long) <= len(cmd.Short) {
			t.Errorf("%q has no long help", path)
		}
		if !strings.Contains(cmd.Example, "adlens "+path) {
			t.Errorf("%q: no example begins with adlens %s: %q", path, path, cmd.Example)
		}
		for line := range strings.SplitSeq(cmd.Long+"\n"+cmd.Example, "\n") {
			if len(line) > 90 {
				t.Errorf("%q: a line is too long: %s", path, line)
			}
		}
	}
}

func TestEveryFlagExplainsItselfAndHasAVariable(t *testing.T) {
	for path, cmd := range commands() {
		help := cmd.UsageString()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%q: --%s has no help", path, f.Name)
			}
			if hasVariable(f) && strings.Count(help, "["+envVariable(f.Name)+"]") != 1 {
				t.Errorf("%q: the help does not name %s once:\n%s", path, envVariable(f.Name), help)
			}
		})
	}
}

func TestEveryFlagCanBeGivenAsItsVariable(t *testing.T) {
	values := map[string]string{"int": "7", "bool": "true", "duration": "7s", "string": "seven"}
	for path, cmd := range commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !hasVariable(f) {
				return
			}
			t.Run(path+" "+f.Name, func(t *testing.T) {
				t.Setenv(envVariable(f.Name), values[f.Value.Type()])
				if err := fromEnvironment(cmd.Flags()); err != nil || f.Value.String() != values[f.Value.Type()] {
					t.Errorf("%s=%s gives %s: %v", envVariable(f.Name), values[f.Value.Type()], f.Value, err)
				}
			})
		})
	}
}

// A row of the table of flags in docs/operating.md: names, variables, defaults, commands.
func TestTheTableOfFlagsAgreesWithTheHelp(t *testing.T) {
	all := commands()
	rows := flagRows(t)
	for _, row := range rows {
		flags, variables, defaults := named(row[0]), named(row[1]), []string{row[2]}
		if len(flags) > 1 {
			defaults = strings.Split(strings.Split(row[2], ";")[0], ", ")
		}
		for i, flag := range flags {
			name := strings.TrimPrefix(flag, "--")
			if variables[i] != envVariable(name) {
				t.Errorf("%s: the variable is %s, the table says %s", flag, envVariable(name), variables[i])
			}
			if got := owners(all, name); row[3] != "every command" && !slices.Equal(got, sorted(strings.Split(row[3], ", "))) {
				t.Errorf("%s is a flag of %v, the table says %s", flag, got, row[3])
			}
			wantDefault(t, all, name, defaults[min(i, len(defaults)-1)])
		}
	}
	if len(rows) < 11 {
		t.Errorf("the table has %d rows", len(rows))
	}
}

// flagRows reads the cells of the table of flags in docs/operating.md.
func flagRows(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Flag | Variable | Default | Of |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 4 {
			t.Fatalf("%q is no row of four cells", line)
		}
		rows = append(rows, cells)
	}
	return rows
}

// named are the words of a cell that stand in backquotes.
func named(cell string) (names []string) {
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	return names
}

// owners are the commands that have a flag of their own, with its variable.
func owners(all map[string]*cobra.Command, flag string) (paths []string) {
	for path, cmd := range all {
		if f := cmd.LocalNonPersistentFlags().Lookup(flag); f != nil && hasVariable(f) {
			paths = append(paths, path)
		}
	}
	return sorted(paths)
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}

// wantDefault holds what the table says against the flag of each command; where
// commands differ the table names them.
func wantDefault(t *testing.T, all map[string]*cobra.Command, flag, said string) {
	t.Helper()
	for path, cmd := range all {
		f := cmd.Flags().Lookup(flag)
		if f == nil || !hasVariable(f) {
			continue
		}
		switch {
		case f.DefValue == "" || f.DefValue == "false":
			if !strings.HasPrefix(said, "none") && !strings.HasPrefix(said, "off") {
				t.Errorf("%s --%s has no default, the table says %s", path, flag, said)
			}
		case !slices.Contains(strings.Fields(strings.ReplaceAll(said, "`", "")), f.DefValue):
			t.Errorf("%s --%s is %s by default, the table says %s", path, flag, f.DefValue, said)
		}
	}
}

// complete asks the program for completions, as the scripts do.
func complete(t *testing.T, words ...string) string {
	t.Helper()
	root := newRoot()
	var out strings.Builder
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"__complete"}, words...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWordsAreCompleted(t *testing.T) {
	t.Setenv("ADLENS_DATA_DIR", filepath.Join(t.TempDir(), "none"))
	for words, want := range map[string]string{
		"do":                             "doctor\tExamine an installation",
		"key re":                         "revoke\t",
		"doctor --qu":                    "--quick\tleave out",
		"connect --region ":              "EU\n",
		"serve --log-level ":             "debug\n",
		"account add x --subscript":      "--subscription\t",
		"account set x --subscription p": "past_due\n",
		"completion ":                    "fish\t",
	} {
		if got := complete(t, strings.Split(words, " ")...); !strings.Contains(got, want) {
			t.Errorf("%s: want %q, got %q", words, want, got)
		}
	}
	// Where no engine runs, none is started to complete an account.
	if got := complete(t, "load", "--account", ""); !strings.HasPrefix(got, ":4") {
		t.Errorf("accounts of nowhere: %q", got)
	}
	if _, err := os.Stat(os.Getenv("ADLENS_DATA_DIR")); err == nil {
		t.Error("completion made a data directory")
	}
}
