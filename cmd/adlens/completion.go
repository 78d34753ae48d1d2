package main

import (
	"context"
	"errors"
	"time"

	"adlens"
	"adlens/internal/engine"

	"github.com/spf13/cobra"
)

// addCompletion takes cobra's command that writes completion scripts, and says
// how to install them.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	completion.Short = "Write a script that completes commands and flags in a shell"
	completion.Long = `Write a script for bash, zsh, fish or PowerShell that completes commands, flags,
and values of flags where they are few. Accounts are completed where the engine
of the data directory runs.

The help of each shell, such as adlens completion bash --help, says how to keep
the script.`
	completion.RunE = needSubcommand
	completion.Example = "  source <(adlens completion bash)"
	for name, example := range map[string]string{
		"bash":       "  adlens completion bash > /etc/bash_completion.d/adlens",
		"zsh":        `  adlens completion zsh > "${fpath[1]}/_adlens"`,
		"fish":       "  adlens completion fish > ~/.config/fish/completions/adlens.fish",
		"powershell": "  adlens completion powershell | Out-String | Invoke-Expression",
	} {
		if shell, _, err := completion.Find([]string{name}); err == nil {
			shell.Short = "Write the script for " + name
			shell.Example = example
		}
	}
}

// completePatience is how long a person who pressed tab waits for accounts.
const completePatience = 2 * time.Second

// completeAccounts completes ids of accounts where that is cheap: where the
// engine runs already.
func (o *options) completeAccounts(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids, err := o.runningAccounts(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) runningAccounts(cmd *cobra.Command) (ids []string, err error) {
	if err := fromEnvironment(cmd.Flags()); err != nil || o.clickhouse != "" {
		return nil, err
	}
	running, err := engine.Runs(o.dataDir)
	if err != nil || !running {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), completePatience)
	defer cancel()
	db, _, leave, err := o.openUnmigrated(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	all, err := db.Accounts.Accounts(ctx)
	for _, a := range all {
		ids = append(ids, a.ID+"\t"+a.Name)
	}
	return ids, err
}

// completeFlags completes the values of flags that have the same meaning
// wherever they are.
func (o *options) completeFlags(cmd *cobra.Command) {
	for name, complete := range map[string]cobra.CompletionFunc{
		"account":      o.completeAccounts,
		"region":       cobra.FixedCompletions([]string{"NA", "EU", "FE"}, cobra.ShellCompDirectiveNoFileComp),
		"subscription": cobra.FixedCompletions(adlens.Subscriptions, cobra.ShellCompDirectiveNoFileComp),
		"log-level":    cobra.FixedCompletions(logLevels, cobra.ShellCompDirectiveNoFileComp),
	} {
		if cmd.LocalNonPersistentFlags().Lookup(name) != nil {
			must(cmd.RegisterFlagCompletionFunc(name, complete))
		}
	}
	for _, directory := range []string{"data-dir", "out"} {
		if cmd.LocalFlags().Lookup(directory) != nil {
			must(cmd.MarkFlagDirname(directory))
		}
	}
}

// must is for mistakes of ours in the definition of commands.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
